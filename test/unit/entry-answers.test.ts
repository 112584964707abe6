import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { accessLinesOf, countsOf, greetingOf } from '#daemon/entries/answers.ts'
import { greetOver } from '#daemon/proxy/greeting.ts'
import { LATENCY_COUNTS } from '#server/metrics/latency.ts'
import { Channel } from '#proxy/control/channel.ts'

import type { AccessLine, Counts } from '#proxy/protocol.ts'

const KNOWN = new Set(['srv-1'])
const NOW = Date.parse('2026-01-01T00:00:00Z')
const BUCKETS = Array.from({ length: LATENCY_COUNTS }, () => 1)

const target = (fields: object = {}) => ({
  ...{ status_2xx: 1, status_3xx: 2, status_4xx: 3, status_5xx: 4 },
  ...{ latency_buckets: BUCKETS, latency_sum_seconds: 0.5 },
  ...fields,
})
const counts = (fields: object = {}) => ({
  ...{ incarnation: 'x', started_at: '2026-01-01T00:00:00.000Z', targets: { 'srv-1': target() } },
  ...{ open_connections: 1, open_requests: 0 },
  ...fields,
})

describe('what an entry says that it has counted', () => {
  test('is taken as it is said', () => {
    const said = counts({ targets: { 'srv-1': target(), unrouted: target() } })
    expect(countsOf(said, KNOWN)).toEqual(said satisfies Counts)
  })

  test('counts for its own targets alone', () => {
    const said = JSON.parse(JSON.stringify(counts()).replace('{"srv-1"', '{"srv-2":7,"__proto__":{},"srv-1"'))
    expect(Object.keys(countsOf(said, KNOWN).targets)).toEqual(['srv-1'])
  })

  test.each([
    null,
    [],
    'counts',
    counts({ incarnation: 7 }),
    counts({ incarnation: 'x'.repeat(1_000) }),
    counts({ started_at: 'yesterday' }),
    counts({ open_requests: -1 }),
    counts({ targets: { 'srv-1': null } }),
    ...['1', -1, null, Number.NaN, Infinity, 1e300].map((status_2xx) =>
      counts({ targets: { 'srv-1': target({ status_2xx }) } }),
    ),
    ...[null, [], [...BUCKETS, 1], BUCKETS.with(3, -1)].map((latency_buckets) =>
      counts({ targets: { 'srv-1': target({ latency_buckets }) } }),
    ),
  ])('is refused as %j', (said) => {
    expect(() => countsOf(said, KNOWN)).toThrow(/^its \w+ are not those of a data plane$/)
  })
})

describe('the lines that an entry hands out', () => {
  const line = (...changes: [index: number, value: unknown][]): unknown[] => {
    const whole: AccessLine = [
      ...(['srv-1', NOW - 5, 'GET', 'app.test', '/', 200, 5, 1.5, '192.0.2.1', null, 'id', 'ins-1'] as const),
    ]
    return changes.reduce<unknown[]>((sum, [index, value]) => sum.with(index, value), whole)
  }
  const lines = (said: unknown, fields: object = {}) =>
    accessLinesOf({ lines: said, lost: {}, more: false, ...fields }, KNOWN, NOW)

  test('are taken as they are said', () => {
    expect(lines([line()], { lost: { 'srv-1': 3, 'srv-2': 4 }, more: true })).toEqual({
      ...{ lines: [line()], lost: { 'srv-1': 3 }, more: true },
    })
  })

  test('are those of its own targets alone, of a time that can be, and short', () => {
    const found = lines([
      line([0, 'srv-2']),
      line([1, 1e15]),
      line([1, 0]),
      line([4, 'x'.repeat(100_000)]),
    ]).lines
    expect(found.map(([service, at]) => [service, at])).toEqual([
      ['srv-1', NOW],
      ['srv-1', NOW - 7 * 86_400_000],
      ['srv-1', NOW - 5],
    ])
    expect(found[2]![4].length).toBeLessThan(10_000)
  })

  test.each([
    ['no lines', null],
    ['a line that is none', ['srv-1']],
    ['a line without a service', [line([0, null])]],
    ['a line that is too short', [['srv-1']]],
    ['a status that is a text', [line([5, '200'])]],
    ['a status that there is not', [line([5, 7])]],
    ['a time that is none', [line([1, 'now'])]],
    ['a path that is none', [line([4, {}])]],
    ['too many', Array.from({ length: 70_000 }, () => line())],
  ])('are refused with %s', (_, said) => {
    expect(() => lines(said)).toThrow(/^its \w+ are not those of a data plane$/)
  })

  test('are refused with a loss that is no number', () => {
    expect(() => lines([], { lost: { 'srv-1': 'all' } })).toThrow()
    expect(() => lines([], { more: 'yes' })).toThrow()
  })
})

describe('the connection to an entry', () => {
  /** What the other side of a connection says, all at once. */
  const saying = (...messages: string[]): Duplex => {
    const socket = new Duplex({ read: () => {}, write: (_data, _encoding, done) => done() })
    setImmediate(() => messages.forEach((message) => socket.push(`${message}\n`)))
    return socket
  }
  const hello = {
    ...{ protocol: 3, version: '1.0.0', server_id: 's', pid: 7, listeners: [], table_version: null },
  }

  test('begins with a greeting, and waits no longer for one that says something else', async () => {
    const right = new Channel(
      saying('{"event":"other"}', JSON.stringify({ event: 'hello', body: hello })),
      () => null,
    )
    expect(greetingOf((await greetOver(right)).hello)).toEqual(hello)
    await expect(greetOver(new Channel(saying('{"event":"other"}'), () => null), 50)).rejects.toThrow(
      /greeting/,
    )
  })

  test.each([
    { version: 'x'.repeat(1_000) },
    { listeners: null },
    { listeners: Array.from({ length: 100 }, () => ({ address: 'a', host: 'b', port: 1 })) },
    { pid: '7' },
    { server_id: null },
  ])('is refused with the greeting %j', (fields) => {
    expect(() => greetingOf({ ...hello, ...fields })).toThrow(/^its greeting is not one of a data plane$/)
  })

  test('ends with a line that is too long, and what is wrong is told in short', async () => {
    const socket = saying()
    const long = new Channel(socket, () => null, 1_000)
    setImmediate(() => socket.push(`{"re":1,"result":"${'x'.repeat(2_000)}`))
    await expect(long.request('counts', {}, 5_000)).rejects.toMatchObject({ code: 'closed' })
    const error = { code: 'failed', message: 'x'.repeat(100_000) }
    const wrong = new Channel(saying(JSON.stringify({ re: 1, error })), () => null)
    const told = await wrong.request('counts', {}, 5_000).catch((thrown: Error) => thrown.message)
    expect(told).toHaveLength(2_000)
  })
})
