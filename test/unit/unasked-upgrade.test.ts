import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { probeHost } from '#daemon/domains/probe.ts'
import { probe } from '#daemon/instances/probe.ts'
import { send } from '#server/network/outgoing.ts'
import { ask } from '#server/backups/bucket-request.ts'
import { openContext } from '../support/context.ts'

/** Far below any of the times that the callers wait for an answer. */
const SOON_MS = 4_000

let close: () => Promise<void>
let server: Server
let port: number

beforeAll(async () => {
  ;({ close } = await openContext())
  // It always answers that another protocol follows (RFC 9110 section 15.2.2), though nobody asked for one.
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as AddressInfo)
})
afterAll(async () => {
  server.close()
  await close()
})

describe('an unrequested change of protocol is reported at once by code that', { timeout: SOON_MS }, () => {
  const signal = new AbortController().signal

  test('sends a message or a batch of lines', async () => {
    const url = `http://127.0.0.1:${port}/`
    await expect(send({ method: 'POST', url, headers: {}, body: 'x', signal })).rejects.toThrow(/protocol/)
  })

  test('checks where a domain points', async () => {
    expect(await probeHost('www.example.com', { address: '127.0.0.1', port })).toMatchObject({
      outcome: 'unreachable',
      message: expect.stringMatching(/protocol/) as string,
    })
  })

  test('probes an instance', async () => {
    const target = { host: '127.0.0.1', port, path: '/', hostHeader: 'api.localhost', published: false }
    expect(await probe(target)).toMatch(/protocol/)
  })

  test('writes to a bucket', async () => {
    const url = `http://127.0.0.1:${port}/bucket`
    const options = { url, accessKeyId: 'a', secretAccessKey: 'b', region: 'c' }
    const stop = new AbortController()
    const asked = ask(options, { method: 'GET', url }, stop.signal)
    // It is tried again, until it is stopped.
    setTimeout(() => stop.abort(), 1_000)
    await expect(asked).rejects.toThrow(/aborted/)
  })
})
