import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { refusal, startFront, type Answer, type Asked, type Front } from './front.ts'
import { startPlace, type Place } from './place.ts'

const DAY_MS = 24 * 3_600_000

let place: Place
let front: Front

/** What was asked about each certificate, by its host. */
const questions: string[] = []
/** What each order was said to replace, by host; undefined if it was not said. */
const orders: { host: string; replaces: string | undefined }[] = []
/** Certificates that an order has named. */
const replaced = new Set<string>()
/** Hosts whose first certificate is to be renewed at once, as before authorities revoke many. */
const hasty = new Set<string>()
/** Hosts whose every certificate is to be renewed at once, as by an authority whose clock is wrong. */
const insistent = new Set<string>()
/** Hosts whose certificates this authority does not know. */
const unknown = new Set<string>()
/** What happens when the authority has accepted an order, before it says so. */
let onOrder: (host: string) => Promise<void> = async () => {}

beforeAll(async () => {
  place = await startPlace({
    authority: { badNonces: 0 },
    async before(authority) {
      front = await startFront(authority, answer)
      return front.directory
    },
  })
})
afterAll(async () => {
  await place?.stop()
  await front?.stop()
})

/** Pebble, with the resource of RFC 9773 that Debian's version lacks. */
async function answer(asked: Asked, pass: () => Promise<Answer>): Promise<Answer> {
  const { path, headers } = asked
  if (path === '/dir') {
    const { body, ...rest } = await pass()
    const directory = JSON.parse(String(body)) as object
    return { ...rest, body: JSON.stringify({ ...directory, renewalInfo: `https://${headers.host}/advice` }) }
  }
  if (path.startsWith('/advice/')) return advise(path.slice('/advice/'.length))
  return path === '/order-plz' ? takeOrder(asked, pass) : pass()
}

/** The window in which the certificate of this name is to be renewed (RFC 9773 section 4.2). */
async function advise(name: string): Promise<Answer> {
  const found = await findCertificate(name)
  const host = found?.subjectAltName?.slice('DNS:'.length)
  if (!found || !host) return refusal(404, 'malformed', 'no such certificate')
  questions.push(host)
  if (unknown.has(host)) return refusal(404, 'malformed', 'no such certificate')
  const isDue = hasty.delete(host) || insistent.has(host)
  const middle = isDue ? Date.now() - DAY_MS : Date.parse(found.validTo) - 10 * DAY_MS
  const [start, end] = [middle - 60_000, middle + 60_000].map((moment) => new Date(moment).toISOString())
  const body = JSON.stringify({ suggestedWindow: { start, end } })
  return { status: 200, headers: { 'content-type': 'application/json', 'retry-after': '21600' }, body }
}

/** A certificate by its serial number; its issuer's key must match the name too. */
async function findCertificate(name: string): Promise<X509Certificate | null> {
  const [keyId = '', serial = ''] = name
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('hex'))
  const ca = readFileSync(place.authority.caFile)
  const url = `https://localhost:${place.authority.ports[1]}/cert-status-by-serial/${serial}`
  const said = await new Promise<string>((resolve, reject) => {
    get(url, { ca }, (response) => void text(response).then(resolve, reject)).on('error', reject)
  })
  const { Certificate: pem = '' } = JSON.parse(said) as { Certificate?: string }
  const reading = promisify(execFile)('openssl', ['x509', '-noout', '-ext', 'authorityKeyIdentifier'])
  reading.child.stdin!.end(pem)
  const isNamed = (await reading).stdout.replaceAll(':', '').toLowerCase().includes(keyId)
  return isNamed && keyId !== '' ? new X509Certificate(pem) : null
}

async function takeOrder({ body }: Asked, pass: () => Promise<Answer>): Promise<Answer> {
  const { payload } = JSON.parse(String(body)) as { payload: string }
  const order = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    identifiers: { value: string }[]
    replaces?: string
  }
  const host = order.identifiers[0]!.value
  orders.push({ host, replaces: order.replaces })
  if (order.replaces !== undefined) {
    if (replaced.has(order.replaces)) return refusal(409, 'alreadyReplaced', 'an order has named it')
    replaced.add(order.replaces)
  }
  const answered = await pass()
  await onOrder(host)
  return answered
}

function ordersOf(host: string) {
  return orders.filter((order) => order.host === host)
}

/** Waits until a host shows another certificate than this one. */
function renewed(host: string, { serialNumber }: { serialNumber: string }) {
  return waitFor(async () => {
    const shown = await place.shown(host)
    return shown.serialNumber !== serialNumber && shown
  }, `${host} to be renewed`)
}

describe('an authority that gives advice on renewal', () => {
  test('is asked, and a certificate that it wants renewed is renewed at once and named to it', async () => {
    hasty.add('hasty.example.com')
    await place.server.api('POST', '/services', { name: 'hasty' })
    await place.reaches('hasty.example.com', 'issued')
    await waitFor(() => ordersOf('hasty.example.com').length === 2, 'the second order')
    await place.reaches('hasty.example.com', 'issued')
    const [first, second] = ordersOf('hasty.example.com')
    expect(first!.replaces).toBeUndefined()
    expect((await findCertificate(second!.replaces!))?.subjectAltName).toBe('DNS:hasty.example.com')
    // It is asked about the new one too, and its advice about that is followed.
    await waitFor(() => questions.filter((host) => host === 'hasty.example.com').length === 2, 'the advice')
    expect(ordersOf('hasty.example.com')).toHaveLength(2)
  })

  test('that wants each new certificate renewed at once is followed once', async () => {
    const host = 'insistent.example.com'
    insistent.add(host)
    await place.server.api('POST', '/services', { name: 'insistent' })
    await waitFor(() => questions.filter((asked) => asked === host).length === 2, 'the second question')
    await place.certifiesAnother('insistent')
    expect(ordersOf(host)).toHaveLength(2)
    expect((await place.entry(host)).state).toBe('issued')
  })

  test('that does not know one certificate is asked about the others', async () => {
    unknown.add('stranger.example.com')
    await place.server.api('POST', '/services', { name: 'stranger' })
    await waitFor(() => questions.includes('stranger.example.com'), 'the question')
    hasty.add('known.example.com')
    await place.server.api('POST', '/services', { name: 'known' })
    await waitFor(() => ordersOf('known.example.com').length === 2, 'the second order')
    expect((await place.entry('stranger.example.com')).state).toBe('issued')
  })

  test('accepts an order that replaces one whose answer was lost in a kill -9', async () => {
    hasty.add('twice.example.com')
    const killed = Promise.withResolvers<void>()
    // The second order may come before the first certificate was seen.
    const seen = Promise.withResolvers<void>()
    onOrder = async (host) => {
      if (ordersOf(host).length !== 2) return
      onOrder = async () => {}
      await seen.promise
      await place.server.kill('SIGKILL')
      killed.resolve()
    }
    await place.server.api('POST', '/services', { name: 'twice' })
    await place.reaches('twice.example.com', 'issued')
    const first = await place.shown('twice.example.com')
    seen.resolve()
    await killed.promise
    await place.server.restart()
    await renewed('twice.example.com', first)
    const [, lost, refused, plain, ...further] = ordersOf('twice.example.com')
    expect(lost!.replaces).toBeDefined()
    expect(refused!.replaces).toBe(lost!.replaces)
    expect(plain!.replaces).toBeUndefined()
    expect(further).toEqual([])
  })
})
