import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authority } from '#daemon/certificates/authority.ts'
import { provideContext, type Context } from '#server/context.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
let server: Server
/** How the authority answers. */
let answer: (response: ServerResponse) => void

beforeAll(async () => {
  let context: Context
  ;({ context, close } = await openContext())
  server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const directory = `http://127.0.0.1:${(server.address() as AddressInfo).port}/directory`
  const { options } = context
  provideContext({ ...context, options: { ...options, acme: { ...options.acme, directory } } })
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await close()
})

test('an authority whose answer has no end is given up', async () => {
  const piece = Buffer.alloc(64 * 1024, ' ')
  answer = (response) => {
    // Larger than what is buffered, so that each piece is followed by a drain.
    response.on('drain', () => response.write(piece)).on('error', () => {})
    response.write(piece)
  }
  await expect(new Authority().renewalInfo()).rejects.toThrow(/does not answer/)
})

test.each([
  [200, '{"renewalInfo":', 'the certificate authority answers what is no JSON'],
  [200, '"text"', 'the certificate authority answers what is no JSON'],
  [400, '{"type":9,"detail":{}}', 'the certificate authority answered with status 400'],
  [500, '{"type":null}', 'the certificate authority answers with status 500'],
  [403, '{"type":"urn:ietf:params:acme:error:unauthorized","detail":"no such account"}', 'no such account'],
])('an answer %i of %s is told as %j', async (status, body, message) => {
  answer = (response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  await expect(new Authority().renewalInfo()).rejects.toThrow(message)
})
