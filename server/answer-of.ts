import type { ClientRequest, IncomingMessage } from 'node:http'

/**
 * The head of the answer to a request. Rejects with what goes wrong before it, and when the other side changes to another
 * protocol, which nobody asks for here: node then closes the connection and tells neither an answer nor an error, and
 * not even the request's signal ends the wait.
 */
export function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    // Also of an error that follows the head: who reads the body is told by that.
    request.on('error', reject)
    request.once('close', () => reject(new Error('it answers in another protocol')))
  })
}
