import { waitFor } from '../support/wait.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal, startFront, type Answer, type Asked, type Front } from './front.ts'
import { startPlace, type Place } from './place.ts'

/** An order that is not held begins within a moment of what it is for. */
const MOMENT_MS = 3_000
const MINUTE_MS = 60_000

let place: Place
let front: Front
/** What the authority answers in place of the certificate of an order. */
let certificate: Answer | undefined
/** What it answers to new orders. */
let toOrders: Answer | undefined
let orders = 0
/** What it answers from then on to whoever asks whether a proof was judged. */
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

async function answer({ path }: Asked, pass: () => Promise<Answer>): Promise<Answer> {
  if (path === '/order-plz') {
    orders++
    if (toOrders) return toOrders
  }
  if (path.startsWith('/chalZ/')) isProved = true
  if (path.startsWith('/authZ/') && isProved && toLooks) {
    looks++
    return toLooks
  }
  const passed = await pass()
  if (!path.startsWith('/certZ/')) return passed
  const given = certificate ?? passed
  certificate = passed
  return given
}

describe('what an authority gives', () => {
  test('is not shown when it is for another name and key, and the next attempt orders anew', async () => {
    certificate = undefined
    await place.server.api('POST', '/services', { name: 'first' })
    await place.reaches('first.example.com', 'issued')
    // The next one is given the certificate of the first.
    const before = orders
    await place.server.api('POST', '/services', { name: 'other' })
    const entry = await place.reaches('other.example.com', 'failed')
    expect(entry.error).toContain('belongs to none of the certificates')
    expect(entry.expires_at).toBeNull()
    expect(Date.parse(entry.retry_at) - Date.now()).toBeGreaterThan(MINUTE_MS / 2)
    await delay(MOMENT_MS)
    expect(orders).toBe(before + 1)
    certificate = undefined
  })
})

describe('an authority that says when to ask again', () => {
  async function refused(name: string, given: Answer) {
    toOrders = given
    const before = orders
    await place.server.api('POST', '/services', { name })
    const entry = await place.reaches(`${name}.example.com`, 'failed')
    await delay(MOMENT_MS)
    expect(orders).toBe(before + 1)
    toOrders = undefined
    return Date.parse(entry.retry_at) - Date.now()
  }

  test('now is asked a minute later', async () => {
    const waitMs = await refused('now', refusal(403, 'rejectedIdentifier', 'no', { 'retry-after': '0' }))
    expect(waitMs).toBeGreaterThan(MINUTE_MS / 2)
    expect(waitMs).toBeLessThan(MINUTE_MS)
  })

  test('in a million years is asked within some weeks', async () => {
    const never = refusal(403, 'rejectedIdentifier', 'no', { 'retry-after': String(3e13) })
    const waitMs = await refused('never', never)
    expect(waitMs / MINUTE_MS / 60 / 24).toBeGreaterThan(7)
    expect(waitMs / MINUTE_MS / 60 / 24).toBeLessThan(60)
  })

  test.each([503, 429])('with a %i that is none of its protocol is heeded', async (status) => {
    const page = { status, headers: { 'content-type': 'text/html', 'retry-after': '7200' }, body: '<p>later' }
    const waitMs = await refused(`later${status}`, page)
    expect(waitMs).toBeGreaterThan(110 * MINUTE_MS)
    expect(waitMs).toBeLessThanOrEqual(120 * MINUTE_MS)
    // That was the authority's word for every host; the next start asks again.
    await place.server.restart()
  })

  test('is not asked on whether it has judged a proof', async () => {
    toLooks = refusal(429, 'rateLimited', 'slow down', { 'retry-after': '7200' })
    isProved = false
    await place.server.api('POST', '/services', { name: 'judged' })
    const entry = await place.reaches('judged.example.com', 'failed')
    expect(entry.error).toContain('slow down')
    expect(Date.parse(entry.retry_at) - Date.now()).toBeGreaterThan(110 * MINUTE_MS)
    expect(looks).toBe(1)
    toLooks = undefined
  })

  test('is asked on when that is soon, while it still finds the proof', async () => {
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
