import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { History } from '#server/metrics/history.ts'
import { openHistory } from '#server/metrics/open-history.ts'
import { readingBetween, type Reading } from '#server/metrics/reading.ts'
import { windowOf } from '#server/metrics/steps.ts'
import { viewHistory, viewServiceMetrics } from '#server/metrics/views.ts'
import { container, sample, target } from './metrics-samples.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const SECOND = 1_000
const HOUR = 3_600 * SECOND

let folder: string
let path: string
let history: History
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-history-'))
  path = join(folder, 'metrics.db')
  history = new History(path)
})
afterEach(() => {
  history.close()
  rmSync(folder, { recursive: true })
})

/** A reading of ten seconds: how busy the machine was, what containers used and the requests. */
function reading(
  busy: number,
  { cpu = {}, requests = {} }: { cpu?: Record<string, number>; requests?: Record<string, number> } = {},
): Reading {
  const names = Object.keys(cpu)
  return readingBetween(
    sample({
      clock: 0,
      cpuSeconds: { user: 0, idle: 0 },
      containers: names.map((name) => container(name, 0, 0)),
    }),
    sample({
      clock: 10,
      cpuSeconds: { user: busy, idle: 100 - busy },
      containers: names.map((name) => container(name, 10, cpu[name]! / 10)),
      targets: Object.entries(requests).map(([id, count]) => target(id, [count, 0, 0, 0])),
    }),
  )
}

function restart(): void {
  history.close()
  history = openHistory(path)
}

describe('the history', () => {
  it('has a point for each step with a reading, at its start, and none for a gap', () => {
    history.add(START + 1 * SECOND, reading(10))
    history.add(START + 11 * SECOND, reading(20))
    history.add(START + 41 * SECOND, reading(30))
    const view = viewHistory(history, '1h', START + 45 * SECOND)
    expect(view.host.map(({ at, cpu_percent }) => [at.slice(14, 19), cpu_percent])).toEqual([
      ['00:00', 10],
      ['00:10', 20],
      ['00:40', 30],
    ])
    expect(view).toMatchObject({ range: '1h', step_seconds: 10, to: '2026-03-01T12:00:45.000Z' })
  })

  it.each([
    ['6h', 60, 25],
    ['24h', 240, 25],
  ] as const)('averages the readings of a step of %s', (range, seconds, average) => {
    for (const [index, busy] of [10, 20, 30, 40].entries())
      history.add(START + index * 10 * SECOND, reading(busy))
    const view = viewHistory(history, range, START + seconds * SECOND - 1)
    expect(view.step_seconds).toBe(seconds)
    expect(view.host.map(({ cpu_percent }) => cpu_percent)).toEqual([average])
  })

  it('leaves values that could not be read out of an average', () => {
    const unknown = reading(80)
    unknown.host.cpu_percent = null
    history.add(START, reading(10))
    history.add(START + 10 * SECOND, unknown)
    expect(viewHistory(history, '6h', START + 20 * SECOND).host[0]!.cpu_percent).toBe(10)
    expect(viewHistory(history, '1h', START + 20 * SECOND).host[1]!.cpu_percent).toBeNull()
  })

  it('has the requests of the last hour of each service in 30 points, and knows what was not measured', () => {
    const now = START + HOUR + 30 * SECOND
    history.add(START + 110 * SECOND, reading(0, { requests: { 'srv-a': 1_000 } }))
    history.add(START + 121 * SECOND, reading(0, { requests: { 'srv-a': 5, 'srv-b': 2 } }))
    history.add(START + 239 * SECOND, reading(0, { requests: { 'srv-a': 6 } }))
    history.add(START + 361 * SECOND, reading(0))
    history.add(now, reading(0, { requests: { 'srv-a': 1 } }))
    const traffic = history.traffic(now)
    expect([traffic.from, traffic.pointSeconds]).toEqual([START + 120 * SECOND, 120])
    const gap = Array(26).fill(null)
    expect(traffic.of('srv-a').requests).toEqual([11, null, 0, ...gap, 1])
    expect(traffic.of('srv-b')).toEqual({
      requests: [2, null, 0, ...gap, 0],
      status_5xx: [0, null, 0, ...gap, 0],
    })
    expect(traffic.of('srv-c').requests).toEqual([0, null, 0, ...gap, 0])
    // It counts on, and each point is forgotten after an hour, also by the next start.
    history.add(now + 45 * SECOND, reading(0, { requests: { 'srv-a': 3 } }))
    history.add(now + 120 * SECOND, reading(0, { requests: { 'srv-c': 4 } }))
    const later = () =>
      ['srv-a', 'srv-b', 'srv-c'].map((id) => history.traffic(now + 125 * SECOND).of(id).requests)
    const expected = [
      [null, 0, ...gap, 4, 0],
      [null, 0, ...gap, 0, 0],
      [null, 0, ...gap, 0, 4],
    ]
    expect(later()).toEqual(expected)
    history.save()
    restart()
    expect(later()).toEqual(expected)
  })

  it('has at most 360 points, the newest', () => {
    for (let step = 0; step < 400; step++) history.add(START + step * 10 * SECOND, reading(step % 100))
    const now = START + 399 * 10 * SECOND
    const { host, from } = viewHistory(history, '1h', now)
    expect(host).toHaveLength(360)
    expect(host[0]!.at).toBe(from)
    expect(host.at(-1)!.at).toBe(new Date(now).toISOString())
  })

  it('shows the five containers that used most CPU in the range, the busiest first', () => {
    history.add(START, reading(0, { cpu: { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 } }))
    history.add(START + 10 * SECOND, reading(0, { cpu: { a: 90, b: 0, c: 0, d: 0, e: 0, f: 0 } }))
    const { containers } = viewHistory(history, '1h', START + 20 * SECOND)
    expect(containers.map(({ instance }) => instance)).toEqual(['a', 'f', 'e', 'd', 'c'])
    expect(containers[0]).toMatchObject({
      id: 'srv-x',
      name: 'api',
      kind: 'service',
      points: [{ cpu_percent: 1, memory_bytes: 100 }, { cpu_percent: 90 }],
    })
  })

  it("has services' requests together, and each target over the whole range", () => {
    history.add(START, reading(0, { requests: { 'srv-a': 10, 'srv-b': 20, dashboard: 5, unrouted: 7 } }))
    history.add(START + 10 * SECOND, reading(0, { requests: { 'srv-a': 30 } }))
    history.add(START + 20 * SECOND, reading(0))
    const { requests, request_targets } = viewHistory(history, '1h', START + 25 * SECOND)
    expect(
      requests.map(({ status_2xx, requests_per_sec, seconds }) => [status_2xx, requests_per_sec, seconds]),
    ).toEqual([
      [30, 3, 10],
      [30, 3, 10],
      [0, 0, 10],
    ])
    expect(requests.map(({ p95_ms }) => p95_ms === null)).toEqual([false, false, true])
    expect(request_targets.map(({ target, name, status_2xx }) => [target, name, status_2xx])).toEqual([
      ['srv-a', 'a', 40],
      ['srv-b', 'b', 20],
      ['dashboard', 'dashboard', 5],
      ['unrouted', 'unrouted', 7],
    ])
    expect(request_targets[0]!.requests_per_sec).toBe(1.333)
  })

  it.each(['1h', '6h', '24h'] as const)('of %s adds up exactly the steps that it shows', (range) => {
    // A day and more, with gaps, ending in the middle of an hour.
    const end = START + 26 * HOUR + 1_234 * SECOND
    for (let at = START, n = 0; at <= end; at += 130 * SECOND, n++) {
      if (n % 7 === 3) continue
      history.add(at, reading(1, { cpu: { a: n % 90, b: 30 }, requests: { 'srv-x': n % 11, dashboard: 1 } }))
      if (n % 100 === 0) history.forget(at)
    }
    const window = windowOf(range, end)
    const sumOf = (target: string | null) =>
      history.requestSteps(target, window).reduce((sum, { statuses }) => sum + statuses[0], 0)
    const { seconds, targets } = history.requestTotals(window)
    expect(sumOf('srv-x')).toBeGreaterThan(0)
    expect(targets.map(({ target, statuses }) => [target, statuses[0]])).toEqual([
      ['dashboard', sumOf('dashboard')],
      ['srv-x', sumOf('srv-x')],
    ])
    expect(seconds).toBe(history.requestSteps(null, window).reduce((sum, step) => sum + step.seconds, 0))
    const totals = new Map(history.containerTotals(window).map(({ container, cpu }) => [container, cpu]))
    const readings = history.requestSteps(null, window).reduce((sum, step) => sum + step.seconds / 10, 0)
    expect(totals.get('b')).toBe(30 * readings)
  })

  it('continues when the clock was set back, and when it was set forward', () => {
    for (const [offset, busy] of [
      [0, 10],
      [2 * HOUR, 20],
      [10 * SECOND, 30],
      [10 * SECOND, 50],
    ] as const)
      history.add(START + offset, reading(busy))
    const shown = viewHistory(history, '1h', START + 15 * SECOND)
    expect(shown.host.map(({ cpu_percent }) => cpu_percent)).toEqual([10, 40])
  })

  it('of a service has only its instances and its requests', () => {
    history.add(START, reading(0, { cpu: { a: 50 }, requests: { 'srv-x': 10, 'srv-y': 20 } }))
    const view = viewServiceMetrics(history, 'srv-x', '1h', START + SECOND)
    expect(view.instances).toMatchObject([{ instance: 'a', points: [{ cpu_percent: 50 }] }])
    expect(view.requests).toMatchObject([{ status_2xx: 10 }])
    expect(viewServiceMetrics(history, 'srv-z', '1h', START + SECOND)).toMatchObject({
      instances: [],
      requests: [],
    })
  })
})

describe('the file of the history', () => {
  it('belongs only to its owner', () => {
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('has after a kill what was saved, and a step continues after it', () => {
    history.add(START, reading(10))
    history.save()
    history.add(START + 10 * SECOND, reading(90))
    restart()
    history.add(START + 20 * SECOND, reading(30))
    expect(
      viewHistory(history, '6h', START + 30 * SECOND).host.map(({ cpu_percent }) => cpu_percent),
    ).toEqual([20])
  })

  it('forgets what no range shows any more, including names', () => {
    history.add(START, reading(10, { cpu: { old: 50 } }))
    history.forget(START + 25 * HOUR)
    history.save()
    history.close()
    const database = new DatabaseSync(path)
    const tables = ['host_steps', 'container_steps', 'request_steps', 'subjects']
    const rows = tables.map((table) => database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()!.rows)
    database.close()
    history = new History(path)
    expect(rows).toEqual([0, 0, 0, 0])
  })

  it('keeps what a clock that was ahead for a moment wrote, without showing it', () => {
    history.add(START + HOUR, reading(70))
    history.add(START, reading(10))
    history.forget(START + SECOND)
    const shown = (now: number) => viewHistory(history, '1h', now).host.map(({ cpu_percent }) => cpu_percent)
    expect(shown(START + SECOND)).toEqual([10])
    expect(shown(START + HOUR)).toEqual([70])
  })

  it.each([
    ['is no database', () => writeFileSync(path, 'something else entirely, and long enough to be looked at')],
    ['is damaged', () => truncateSync(path, statSync(path).size - 100)],
    [
      'was written by another version',
      () => {
        const database = new DatabaseSync(path)
        database.exec('PRAGMA user_version = 99')
        database.close()
      },
    ],
  ])('begins again when it %s', (_, spoil) => {
    for (let step = 0; step < 300; step++)
      history.add(START + step * 10 * SECOND, reading(1, { cpu: { a: 1 } }))
    history.save()
    history.close()
    spoil()
    history = openHistory(path)
    history.add(START, reading(10))
    expect(viewHistory(history, '1h', START + SECOND).host).toHaveLength(1)
  })

  it('that was written before there were hours gets them', () => {
    for (let at = START; at < START + 20 * HOUR; at += 100 * SECOND)
      history.add(at, reading(1, { requests: { 'srv-x': 1 } }))
    const now = START + 20 * HOUR
    const before = viewHistory(history, '24h', now).request_targets
    history.save()
    history.close()
    const database = new DatabaseSync(path)
    for (const table of ['host_steps', 'container_steps', 'request_steps'])
      database.exec(`DELETE FROM ${table} WHERE seconds = 3600`)
    database.exec('PRAGMA user_version = 1')
    database.close()
    history = new History(path)
    expect(viewHistory(history, '24h', now).request_targets).toEqual(before)
  })

  it('is in memory if it cannot be written', () => {
    history.close()
    appendFileSync(join(folder, 'file'), '')
    history = openHistory(join(folder, 'file', 'metrics.db'))
    history.add(START, reading(10))
    history.save()
    expect(viewHistory(history, '1h', START + SECOND).host).toHaveLength(1)
  })
})
