import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { refusal, startFront, type Answer, type Asked, type Front } from './front.ts'
import { startPlace, type Place } from './place.ts'

const MINUTE_MS = 60_000

let place: Place
let front: Front
/** What the authority answered to the last request for a certificate. */
let former: Answer | undefined
/** Whether it answers that in place of the next one. */
let isMixedUp = false
/** What it answers to new orders. */
let toOrders: Answer | undefined
/** The host of each order. */
const orders: string[] = []
/** What it answers from then on to requests for the state of a proof. */
let toLooks: Answer | undefined
let looks = 0
let isProved = false

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

async function answer({ path, body }: Asked, pass: () => Promise<Answer>): Promise<Answer> {
  if (path === '/order-plz') {
    orders.push(hostOf(body))
    if (toOrders) return toOrders
  }
  if (path.startsWith('/chalZ/')) isProved = true
  if (path.startsWith('/authZ/') && isProved && toLooks) {
    looks++
    return toLooks
  }
  const passed = await pass()
  if (!path.startsWith('/certZ/')) return passed
  const given = isMixedUp ? former! : passed
  former = passed
  return given
}

/** The host that an order is for (RFC 8555 section 7.4). */
function hostOf(body: Buffer): string {
  const { payload } = JSON.parse(String(body)) as { payload: string }
  const order = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    identifiers: { value: string }[]
  }
  return order.identifiers[0]!.value
}

function ordersOf(host: string): string[] {
  return orders.filter((ordered) => ordered === host)
}

describe('a certificate from an authority', () => {
  test('is not used if it is for another name and key, and the next attempt orders again', async () => {
    await place.server.api('POST', '/services', { name: 'first' })
    await place.reaches('first.example.com', 'issued')
    isMixedUp = true
    await place.server.api('POST', '/services', { name: 'other' })
    const entry = await place.reaches('other.example.com', 'failed')
    expect(entry.error).toContain('does not belong to any of the certificates')
    expect(entry.expires_at).toBeNull()
    expect(Date.parse(entry.retry_at) - Date.now()).toBeGreaterThan(MINUTE_MS / 2)
    isMixedUp = false
    await place.certifiesAnother('other')
    expect(ordersOf('other.example.com')).toHaveLength(1)
  })
})

describe('an authority that says when to ask again', () => {
  async function refused(name: string, given: Answer, isOfEveryHost: boolean) {
    toOrders = given
    const host = `${name}.example.com`
    await place.server.api('POST', '/services', { name })
    const entry = await place.reaches(host, 'failed')
    toOrders = undefined
    await (isOfEveryHost ? place.certifiesNone(name) : place.certifiesAnother(name))
    expect(ordersOf(host)).toHaveLength(1)
    return Date.parse(entry.retry_at) - Date.now()
  }

  test('now is asked a minute later', async () => {
    const waitMs = await refused(
      'now',
      refusal(403, 'rejectedIdentifier', 'no', { 'retry-after': '0' }),
      false,
    )
    expect(waitMs).toBeGreaterThan(MINUTE_MS / 2)
    expect(waitMs).toBeLessThan(MINUTE_MS)
  })

  test('in a million years is asked within some weeks', async () => {
    const never = refusal(403, 'rejectedIdentifier', 'no', { 'retry-after': String(3e13) })
    const waitMs = await refused('never', never, false)
    expect(waitMs / MINUTE_MS / 60 / 24).toBeGreaterThan(7)
    expect(waitMs / MINUTE_MS / 60 / 24).toBeLessThan(60)
  })

  test.each([503, 429])('with a %i that is not in its protocol is obeyed', async (status) => {
    const page = { status, headers: { 'content-type': 'text/html', 'retry-after': '7200' }, body: '<p>later' }
    const waitMs = await refused(`later${status}`, page, true)
    expect(waitMs).toBeGreaterThan(110 * MINUTE_MS)
    expect(waitMs).toBeLessThanOrEqual(120 * MINUTE_MS)
    // The authority's answer applied to every host; the next start asks again.
    await place.server.restart()
  })

  test('is not polled for the state of a proof', async () => {
    toLooks = refusal(429, 'rateLimited', 'slow down', { 'retry-after': '7200' })
    isProved = false
    await place.server.api('POST', '/services', { name: 'judged' })
    const entry = await place.reaches('judged.example.com', 'failed')
    expect(entry.error).toContain('slow down')
    expect(Date.parse(entry.retry_at) - Date.now()).toBeGreaterThan(110 * MINUTE_MS)
    expect(looks).toBe(1)
    toLooks = undefined
  })

  test('is polled if that is soon, while it still knows the proof', async () => {
    await place.server.restart()
    toLooks = refusal(429, 'rateLimited', 'slow down', { 'retry-after': '6' })
    isProved = false
    looks = 0
    await place.server.api('POST', '/services', { name: 'soon' })
    await waitFor(() => looks === 1, 'a look')
    toLooks = undefined
    await place.reaches('soon.example.com', 'issued')
  })
})
