import { closeSync, mkdtempSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RateCells } from '../../../proxy/edge/rate-cells.ts'
import { RateLimit } from '../../../proxy/edge/rate-limit.ts'
import { HOST } from '../stand.ts'
import { TRUSTING, apply, ask, ask2, from, serve, stand } from './edge-stand.ts'

serve({ workers: 3 })

test('requests beyond the limit get 429 and are told when to come again, others what is left', async () => {
  await apply({ rate_limit: { requests: 60, period_seconds: 60, burst: 2 } }, TRUSTING)
  const first = await ask('/', from('192.0.2.1'))
  expect(first.status).toBe(200)
  expect(first.fields['ratelimit-policy']).toBe('"default";q=60;w=60')
  expect(first.fields.ratelimit).toBe('"default";r=1;t=1')
  expect((await ask('/', from('192.0.2.1'))).status).toBe(200)
  const { status, fields, body } = await ask('/', from('192.0.2.1'), 'Accept: application/json')
  expect([status, fields['retry-after'], fields['cache-control']]).toEqual([429, '1', 'no-store'])
  expect(fields.ratelimit).toMatch(/^"default";r=0;t=[12]$/)
  expect(body).toContain('"code":"too_many_requests"')
  expect((await ask('/', from('192.0.2.2'))).status).toBe(200)
})

test('an address counts over both protocols, and a /64 of IPv6 counts as one', async () => {
  await apply({ rate_limit: { requests: 1, period_seconds: 3600, burst: 1 } }, TRUSTING)
  const other = { 'x-forwarded-for': '198.51.100.1' }
  expect((await ask2('/', other)).status).toBe(200)
  expect((await ask('/', from('198.51.100.1'))).status).toBe(429)
  expect((await ask('/', from('::ffff:198.51.100.1'))).status).toBe(429)
  expect((await ask2('/', other)).status).toBe(429)
  expect((await ask('/', from('2001:db8:1:2:3::4'))).status).toBe(200)
  expect((await ask('/', from('2001:db8:1:2:ffff::'))).status).toBe(429)
  expect((await ask('/', from('2001:db8:1:3::4'))).status).toBe(200)
})

test('a forged X-Forwarded-For does not make another client', async () => {
  await apply({ rate_limit: { requests: 1, period_seconds: 7200, burst: 1 } })
  const statuses = []
  for (const address of ['203.0.113.1', '203.0.113.2']) statuses.push((await ask('/', from(address))).status)
  expect(statuses).toEqual([200, 429])
})

test('all workers together let no more through than the limit, within a tenth', async () => {
  const burst = 1_000
  await apply({ rate_limit: { requests: burst, period_seconds: 86_400, burst } }, TRUSTING)
  const request = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n${from('203.0.113.9')}\r\n\r\n`
  const connections = Array.from({ length: 30 }, () => stand.raw())
  for (const connection of connections) connection.send(request.repeat(50))
  const count = (status: string) =>
    connections.reduce((sum, { received }) => sum + received.split(`HTTP/1.1 ${status} `).length - 1, 0)
  await expect.poll(() => count('200') + count('429'), { timeout: 30_000 }).toBe(30 * 50)
  for (const connection of connections) connection.close()
  expect(count('200')).toBeGreaterThanOrEqual(burst)
  expect(count('200')).toBeLessThanOrEqual(burst * 1.1)
})

test('a million addresses take no more memory than a few, and do not lift the limit of one that keeps coming', () => {
  const cells = new RateCells(null)
  const limit = new RateLimit('srv-app', { requests: 10, periodMs: 3_600_000, burst: 10 })
  const before = process.memoryUsage().rss
  let passed = 0
  for (let number = 0; number < 1_000_000; number++) {
    limit.take(cells, `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`, 1_000 + number / 1_000)
    if (number % 1_000 === 0 && limit.take(cells, '192.0.2.1', 1_000 + number / 1_000).allowed) passed++
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  expect(passed).toBe(10)
})

test('what one worker takes back counts for all of them', () => {
  const fd = openSync(join(mkdtempSync(join(tmpdir(), 'deployer-rates-')), 'counts'), 'w+')
  const workers = [0, 1, 2, 3].map((column) => new RateCells({ fd, column, seed: 7 }))
  const limit = new RateLimit('srv-app', { requests: 4, periodMs: 60_000, burst: 4 })
  for (let round = 0; round < 5; round++) {
    const turns = workers.map((cells) => limit.take(cells, '192.0.2.1', 0).allowed)
    expect([round, turns]).toEqual([round, [true, true, true, true]])
    for (const cells of workers) limit.giveBack(cells, '192.0.2.1')
  }
  closeSync(fd)
})

test('a limit allows its burst at once, then one request in each interval', () => {
  const cells = new RateCells(null)
  const limit = new RateLimit('srv-app', { requests: 60, periodMs: 60_000, burst: 3 })
  const take = (now: number) => limit.take(cells, '192.0.2.1', now)
  expect([0, 0, 0].map((now) => take(now).left)).toEqual([2, 1, 0])
  expect(take(0)).toEqual({ allowed: false, left: 0, resetSeconds: 3, waitSeconds: 1 })
  expect(take(999).allowed).toBe(false)
  expect(take(1_000).allowed).toBe(true)
  expect(take(1_001).allowed).toBe(false)
  expect(take(60_000).left).toBe(2)
})
