import { Agent, request } from 'node:https'
import { z } from 'zod'
import {
  HTTP_PROTOCOL,
  MAX_MESSAGE_BYTES,
  type HostAnswer,
  type Identity,
  type Probes,
  type Reach,
} from '#agent/protocol.ts'
import { answerOf, textWithin } from '#server/network/answers.ts'

/** Where an agent is, and what is shown to it. */
export interface AgentAddress {
  nodeId: string
  host: string
  port: number
  identity: Identity
}

/** An agent is trusted to be on its node, not to tell the truth: whatever it answers has this form. */
const Count = z.number().min(0).max(Number.MAX_SAFE_INTEGER)
const HostForm = z.object({
  now: Count,
  cpuCount: Count.nullable(),
  cpuSeconds: z.record(z.string().max(16), Count).nullable(),
  memory: z.object({ totalBytes: Count, availableBytes: Count }).nullable(),
  disk: z.object({ totalBytes: Count, freeBytes: Count }).nullable(),
})
const ReachForm = z.array(z.enum(['open', 'refused', 'silent']))

/** What every connection to an agent has in common. */
export function tlsOptions({ nodeId, host, port, identity }: AgentAddress) {
  return {
    host,
    port,
    servername: nodeId,
    cert: identity.certificate,
    key: identity.key,
    ca: identity.authority,
    minVersion: 'TLSv1.3' as const,
  }
}

/** An agent has not answered in time, but its machine may still be at it. */
export class Silence extends Error {
  constructor() {
    super('no answer in time')
  }
}

/** Requests to the agent of a node, over one connection that is kept. */
export class AgentCalls {
  readonly #agent: Agent

  constructor(address: AgentAddress) {
    this.#agent = new Agent({
      ...tlsOptions(address),
      ALPNProtocols: [HTTP_PROTOCOL],
      keepAlive: true,
      maxSockets: 1,
    })
  }

  /** The host's figures. Throws an Error when there is no valid answer in time. */
  async host(timeoutMs: number): Promise<HostAnswer> {
    return parsed(HostForm, await this.#ask('GET', '/host', timeoutMs))
  }

  /** Which of these the agent reaches, in their order. Throws like `host`. */
  async probe(probes: Probes, timeoutMs: number): Promise<Reach[]> {
    const form = ReachForm.length(probes.targets.length)
    return parsed(form, await this.#ask('POST', '/check', timeoutMs, probes))
  }

  close(): void {
    this.#agent.destroy()
  }

  async #ask(method: string, path: string, timeoutMs: number, body?: unknown): Promise<string> {
    const signal = AbortSignal.timeout(timeoutMs)
    const asked = request({ agent: this.#agent, method, path, signal })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    try {
      const answer = await answerOf(asked)
      const text = await textWithin(answer, MAX_MESSAGE_BYTES)
      if (text === null) throw new Error('its answer is too long')
      if (answer.statusCode !== 200) throw new Error(`it answers ${answer.statusCode}`)
      return text
    } catch (error) {
      throw signal.aborted ? new Silence() : error
    }
  }
}

/** Errors of JSON and of forms quote the answer, which is not to be shown. */
function parsed<T>(form: z.ZodType<T>, answer: string): T {
  try {
    return form.parse(JSON.parse(answer))
  } catch (cause) {
    throw new Error('its answer is not valid', { cause })
  }
}
