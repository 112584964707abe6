import { randomHex } from '../ids.ts'

/** A `state` is good once, for an hour. */
const LIFETIME_MS = 60 * 60_000
/** Of flows that somebody began and left; each takes some 300 bytes. */
const MAX_FLOWS = 1_000
/** RFC 6749 section 10.10 asks for a chance of a guess below 2^-128. */
const STATE_BYTES = 20

/** A step of an authorization that goes on in the browser. */
export interface Flow {
  connectionId: string
  /** What the provider sends back: the code of a manifest, an installation, or the code of an authorization. */
  step: 'manifest' | 'install' | 'oauth'
  /** Where the browser comes back to, which the exchange of a code repeats. */
  redirectUri: string
  /** RFC 7636 section 4.1; of an OAuth step. */
  verifier?: string
}

/** In memory: a restart ends the flows, and their connections can be resumed. */
const flows = new Map<string, Flow & { startedAt: number }>()

/** Begins a step; answers the `state` that the provider hands back. */
export function beginFlow(flow: Flow): string {
  for (const [state, { startedAt }] of flows)
    if (startedAt < performance.now() - LIFETIME_MS || flows.size >= MAX_FLOWS) flows.delete(state)
  const state = randomHex(STATE_BYTES)
  flows.set(state, { ...flow, startedAt: performance.now() })
  return state
}

/** The step of a `state`, which is used up by that; nothing for one that is unknown, used or old. */
export function takeFlow(state: string): Flow | undefined {
  const flow = flows.get(state)
  flows.delete(state)
  return flow && flow.startedAt > performance.now() - LIFETIME_MS ? flow : undefined
}
