import { Agent, type ClientRequest } from 'node:http'
import { inspect } from 'node:util'
import { failWithAnswer } from '#server/network/answers.ts'

/** An undocumented method that every agent has; agent packages build on it. */
const { addRequest } = Agent.prototype as unknown as {
  addRequest: (request: ClientRequest, options: object) => void
}

/**
 * Fails a request when its answer is cut off: docker-modem only listens for the end of the answer and would wait forever.
 * It also hides its connections from inspection. docker-modem formats each request for its debug log, even if that is off,
 * with its agent and so with everything that other requests hold: with a hundred open streams, each took seconds.
 */
export class TerseAgent extends Agent {
  addRequest(request: ClientRequest, options: object): void {
    failWithAnswer(request)
    addRequest.call(this, request, options)
  }

  [inspect.custom](): string {
    return 'Agent'
  }
}
