import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authority } from '#daemon/certificates/authority.ts'
import { provideContext, type Context } from '#server/context.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
let server: Server

beforeAll(async () => {
  let context: Context
  ;({ context, close } = await openContext())
  const piece = Buffer.alloc(64 * 1024, ' ')
  server = createServer((_, response) => {
    // Larger than what is buffered, so that each piece is followed by a drain.
    response.on('drain', () => response.write(piece)).on('error', () => {})
    response.write(piece)
  }).listen(0, '127.0.0.1')
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
  await expect(new Authority().renewalInfo()).rejects.toThrow(/does not answer/)
})
