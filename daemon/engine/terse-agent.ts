import { Agent, type ClientRequest } from 'node:http'
import { inspect } from 'node:util'
import { failWithAnswer } from '#server/network/answers.ts'

/** What every agent has and no document names; packages of agents build on it. */
const { addRequest } = Agent.prototype as unknown as {
  addRequest: (request: ClientRequest, options: object) => void
}

/**
 * Tells a request of its answer's breaking off: docker-modem listens to the answer's end alone and would wait for ever.
 * And says nothing of its connections. docker-modem writes out each request for its debug log, whether anybody reads that or not,
 * with its agent and so with all that any other request holds: among a hundred streams each took seconds.
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
