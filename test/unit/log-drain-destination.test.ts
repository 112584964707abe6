import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { openDrainDestination } from '#daemon/log-drains/destinations.ts'
import { bodyOf, SERVER } from '#daemon/log-drains/formats.ts'
import { startReceiver } from '../support/receiver.ts'

const read = (name: string) => readFileSync(join(import.meta.dirname, '../proxy/certificates', name))

test('a TLS drain may have an address for a host, whose certificate is checked', async () => {
  const server = createServer({ key: read('app.key'), cert: read('app.crt') }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `tls://127.0.0.1:${(server.address() as AddressInfo).port}`
  const destination = openDrainDestination('syslog', url, null)
  const origin = {} as Parameters<typeof destination.send>[0]
  // It is self-signed, which only the handshake reveals.
  await expect(destination.send(origin, [], AbortSignal.timeout(10_000))).rejects.toThrow(
    /self-signed certificate/,
  )
})

const line = { ts: '2026-01-01T00:00:00.000Z', stream: 'stdout', line: 'a line' } as const
const origin = { serviceId: 'srv-1', service: 'api', environment: 'production' }

test.each([
  ['120', 120_000],
  ['Sun, 22 Nov 2020 00:01:00 GMT', 0],
  ['soon', 0],
])('a destination that asks to try again after %s says so', async (after, waitMs) => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  receiver.answer = { status: 429, headers: { 'retry-after': after } }
  const destination = openDrainDestination('http', receiver.url, null)
  await expect(destination.send(origin, [line], AbortSignal.timeout(10_000))).rejects.toMatchObject({
    waitMs,
  })
})

test('a destination that repeats its token in an answer does not reveal it', async () => {
  const server = createHttpServer((request, response) =>
    response.writeHead(401).end(`who is ${request.headers.authorization}?`),
  ).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sending = openDrainDestination('http', url, 'key-of-the-archive').send(
    origin,
    [line],
    AbortSignal.timeout(10_000),
  )
  await expect(sending).rejects.toThrow('answered 401: who is Bearer ***?')
})

test('a name longer than a syslog message allows is cut there', () => {
  const body = bodyOf('syslog', { ...origin, service: 'a'.repeat(63) }, [line])
  expect(body.split(' ')[4]).toBe('a'.repeat(48))
})

test('an event of the audit log is a message of the facility for those', () => {
  const body = bodyOf('syslog', SERVER, [{ ...line, stream: 'audit', line: '{"id":"aud-1"}' }])
  expect(body).toMatch(/^\d+ <109>1 \S+ none deployer - audit \[.* stream="audit"\] \uFEFF\{"id":"aud-1"\}$/)
})
