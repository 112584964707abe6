import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { useDatabase } from '#server/context.ts'
import { authorityCertificate, certify, type Keyed } from '#server/datastores/authority.ts'
import { openContext } from '../support/context.ts'

const DAY_MS = 24 * 3_600_000
const YEAR_MS = 365 * DAY_MS
const SUBJECT = { names: ['db', 'localhost'], addresses: ['127.0.0.1', '::1', '10.208.0.2'] }

let close: () => Promise<void>

beforeEach(async () => {
  ;({ close } = await openContext())
})
afterEach(() => close())

/** Whether a client that trusts an authority accepts a server with this certificate under a name. */
async function isTrusted({ certificate, key }: Keyed, ca: string, servername: string): Promise<boolean> {
  const server = createServer({ cert: certificate, key }, (socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ host: '127.0.0.1', port, ca, servername })
  try {
    await once(client, 'secureConnect')
    return true
  } catch {
    return false
  } finally {
    client.destroy()
    server.close()
  }
}

test('a certificate of a datastore is verified by the authority, only for its own names', async () => {
  expect(authorityCertificate()).toBeNull()
  const keyed = await certify(SUBJECT)
  const ca = authorityCertificate()!
  expect(await isTrusted(keyed, ca, 'db')).toBe(true)
  expect(await isTrusted(keyed, ca, 'localhost')).toBe(true)
  expect(await isTrusted(keyed, ca, 'other')).toBe(false)
  const leaf = new X509Certificate(keyed.certificate)
  for (const address of SUBJECT.addresses) expect(leaf.checkIP(address)).toBe(address)
  expect(leaf.checkIP('10.208.0.3')).toBeUndefined()
})

test('all come from one authority, even if created at once, each with its own key', async () => {
  const [first, second] = await Promise.all([certify(SUBJECT), certify(SUBJECT)])
  const ca = authorityCertificate()!
  const third = await certify(SUBJECT)
  expect(authorityCertificate()).toBe(ca)
  expect(new Set([first, second, third].map(({ key }) => key)).size).toBe(3)
  for (const keyed of [first, second, third]) expect(await isTrusted(keyed, ca, 'db')).toBe(true)
})

test('the authority outlives its certificates by far, and signs only certificates of programs', async () => {
  const leaf = new X509Certificate((await certify(SUBJECT)).certificate)
  const ca = new X509Certificate(authorityCertificate()!)
  const years = ({ validToDate }: X509Certificate) => (validToDate.getTime() - Date.now()) / YEAR_MS
  expect(years(leaf)).toBeCloseTo(10, 1)
  expect(years(ca)).toBeCloseTo(30, 1)
  expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now() - DAY_MS / 2)
  expect([ca.ca, leaf.ca]).toEqual([true, false])
  expect(ca.subject).toMatch(/^CN=Deployer datastores [0-9a-f]{20}$/)
})

test('the key of the authority is stored encrypted', async () => {
  await certify(SUBJECT)
  const rows = useDatabase().all<{ value: string }>('SELECT value FROM settings')
  for (const { value } of rows) expect(Buffer.from(value, 'base64').toString()).not.toContain('PRIVATE KEY')
})
