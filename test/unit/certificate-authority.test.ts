import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Authority } from '#daemon/certificates/authority.ts'
import { RenewalAdvice } from '#daemon/certificates/renewal.ts'
import { writeVersion } from '#server/certificates/files.ts'
import { getCertificate, insertCertificate, type CertificateRow } from '#server/certificates/store.ts'
import { provideContext, useContext, type Context } from '#server/context.ts'
import { openContext } from '../support/context.ts'

/** The example of RFC 9773, appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`

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

test('an authority that leads to a forbidden address is not followed there', async () => {
  const location = 'http://169.254.169.254/directory'
  answer = (response) => response.writeHead(302, { location }).end()
  await expect(new Authority().renewalInfo()).rejects.toThrow(
    /does not answer: 169\.254\.169\.254 is a link-local/,
  )
})

test('an empty answer, as to HEAD, is not an error, whatever its type says', async () => {
  answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end()
  expect(await new Authority().renewalInfo()).toBeNull()
})

test.each([
  [200, '{"renewalInfo":', 'the certificate authority answered with something that is not JSON'],
  [200, '"text"', 'the certificate authority answered with something that is not JSON'],
  [400, '{"type":9,"detail":{}}', 'the certificate authority answered with status 400'],
  [500, '{"type":null}', 'the certificate authority answers with status 500'],
  [403, '{"type":"urn:ietf:params:acme:error:unauthorized","detail":"no such account"}', 'no such account'],
])('an answer %i of %s is reported as %j', async (status, body, message) => {
  answer = (response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  await expect(new Authority().renewalInfo()).rejects.toThrow(message)
})

test('a certificate that is to be renewed at once again waits six hours, but not beyond its own time', async () => {
  const { options } = useContext()
  const { directory } = options.acme
  insertCertificate('a.example', directory)
  const version = writeVersion('a.example', EXAMPLE, 'key')
  const renewAt = Date.now() + 30 * 60_000
  const advice = new RenewalAdvice({ renewalInfo: async () => new URL('/info', directory).href } as Authority)
  const window = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' }
  answer = (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ suggestedWindow: window }))
  const adviceFor = async (renew_at: number, own = version) => {
    const row = { id: 'a.example', status: 'issued', directory, advised_until: null, version: own, renew_at }
    await advice.look([row as CertificateRow])
    return getCertificate('a.example')!.renew_at!
  }
  expect(await adviceFor(renewAt)).toBeLessThan(Date.now())
  const next = writeVersion('a.example', EXAMPLE, 'key')
  expect(await adviceFor(renewAt, next)).toBe(renewAt)
  const hours = ((await adviceFor(Date.now() + 90 * 86_400_000, next)) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(5)
  expect(hours).toBeLessThanOrEqual(6)
})
