import { randomHex } from '../ids.ts'

/** A `state` can be used once, within an hour. */
const LIFETIME_MS = 60 * 60_000
/** Flows that were started and never finished; each takes some 300 bytes. */
const MAX_FLOWS = 1_000
/** RFC 6749 section 10.10 wants the chance of a correct guess to be below 2^-128. */
const STATE_BYTES = 20

/** One step of an authorization, which continues in the browser. */
export interface Flow {
  connectionId: string
  /** What the provider sends back: a manifest's code, an installation, or an authorization code. */
  step: 'manifest' | 'install' | 'oauth'
  /** Where the browser returns to. The exchange of a code must repeat it. */
  redirectUri: string
  /** For an OAuth step (RFC 7636 section 4.1). */
  verifier?: string
}

/** Only in memory: a restart ends the flows, and their connections can be resumed. */
const flows = new Map<string, Flow & { startedAt: number }>()

/** Begins a step. Returns the `state` that the provider will send back. */
export function beginFlow(flow: Flow): string {
  for (const [state, { startedAt }] of flows)
    if (startedAt < performance.now() - LIFETIME_MS || flows.size >= MAX_FLOWS) flows.delete(state)
  const state = randomHex(STATE_BYTES)
  flows.set(state, { ...flow, startedAt: performance.now() })
  return state
}

/** Returns the step of a `state` and uses it up; nothing for an unknown, used or expired one. */
export function takeFlow(state: string): Flow | undefined {
  const flow = flows.get(state)
  flows.delete(state)
  return flow && flow.startedAt > performance.now() - LIFETIME_MS ? flow : undefined
}
