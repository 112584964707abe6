import { Agent, type AgentOptions, type ClientRequest } from 'node:http'
import { inspect } from 'node:util'
import { failWithAnswer, limitCollected } from '#server/network/answers.ts'

/** An undocumented method that every agent has; agent packages build on it. */
const { addRequest } = Agent.prototype as unknown as {
  addRequest: (request: ClientRequest, options: object) => void
}

/** How an agent treats answers. */
interface Limits {
  /** The longest answer that is collected whole; null for any. */
  maxAnswerBytes: number | null
}

/**
 * Fails a request when its answer is cut off: docker-modem only listens for the end of the answer and would wait forever.
 * It also hides its connections from inspection. docker-modem formats each request for its debug log, even if that is off,
 * with its agent and so with everything that other requests hold: with a hundred open streams, each took seconds.
 */
export class TerseAgent extends Agent {
  readonly #maxAnswerBytes: number | null

  constructor(options: AgentOptions, { maxAnswerBytes }: Limits) {
    super(options)
    this.#maxAnswerBytes = maxAnswerBytes
  }

  addRequest(request: ClientRequest, options: object): void {
    failWithAnswer(request)
    if (this.#maxAnswerBytes !== null) limitCollected(request, this.#maxAnswerBytes)
    addRequest.call(this, request, options)
  }

  [inspect.custom](): string {
    return 'Agent'
  }
}
