import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Authority } from '../stand/acme.ts'

export interface Asked {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer | string
}

/** What is in front of an authority and knows its address. */
export interface Front {
  directory: string
  stop(): Promise<void>
}

/** Puts a server in front of an authority: `answer` answers in its place, or passes the request on. */
export async function startFront(
  authority: Authority,
  answer: (asked: Asked, pass: () => Promise<Answer>) => Promise<Answer> | Answer,
): Promise<Front> {
  const ca = readFileSync(authority.caFile)
  const server = createServer({ cert: ca, key: readFileSync(authority.keyFile) }, (incoming, response) => {
    void (async () => {
      const { method = 'GET', url: path = '/', headers } = incoming
      const asked = { method, path, headers, body: await buffer(incoming) }
      const place = { host: '127.0.0.1', port: authority.ports[0], servername: 'localhost', ca }
      const { status, headers: given, body } = await answer(asked, () => send(asked, place))
      response.writeHead(status, { ...given, 'content-length': Buffer.byteLength(body) }).end(body)
    })().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    directory: `https://localhost:${(server.address() as AddressInfo).port}/dir`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** An error in the format of authorities (RFC 8555 section 6.7). */
export function refusal(
  status: number,
  kind: string,
  detail: string,
  headers: IncomingHttpHeaders = {},
): Answer {
  const body = JSON.stringify({ type: `urn:ietf:params:acme:error:${kind}`, detail })
  return { status, headers: { 'content-type': 'application/problem+json', ...headers }, body }
}

async function send({ method, path, headers, body }: Asked, place: RequestOptions): Promise<Answer> {
  const passed = request({ ...place, method, path, headers, agent: false })
  passed.end(body)
  const [response] = (await once(passed, 'response')) as [IncomingMessage]
  const { 'transfer-encoding': _, ...given } = response.headers
  return { status: response.statusCode!, headers: given, body: await buffer(response) }
}
