import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

/** A web server that records what it receives. */
export interface Receiver {
  readonly url: string
  received: Received[]
  /** How it answers; null does not answer. */
  answer: { status: number; headers?: Record<string, string> } | null
  close(): void
}

/** Starts one on a port of its own. */
export async function startReceiver(): Promise<Receiver> {
  const listener = createServer((request, response) => {
    void text(request).then((body) => {
      receiver.received.push({ method: request.method!, path: request.url!, headers: request.headers, body })
      if (receiver.answer)
        response.writeHead(receiver.answer.status, receiver.answer.headers).end('{"said":"so"}')
    })
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    received: [],
    answer: { status: 200 },
    close() {
      listener.closeAllConnections()
      listener.close()
    },
  }
  return receiver
}

/** A message as a webhook gets it. */
export interface Told {
  type: string
  timestamp: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each type of message has another
  data: any
}

/** The messages that a receiver has got, in their order. */
export function toldTo({ received }: Receiver): Told[] {
  return received.map(({ body }) => JSON.parse(body) as Told)
}
