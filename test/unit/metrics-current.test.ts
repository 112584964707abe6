import { describe, expect, it } from 'vitest'
import { readingBetween } from '#server/metrics/reading.ts'
import { viewCurrent } from '#server/metrics/views.ts'
import { container, emptyBuckets, sample, target } from './metrics-samples.ts'

const AT = Date.UTC(2026, 0)

/** The result when these containers have used so many seconds, and these requests came, in ten. */
function current(cpu: Record<string, number | null>, targets: ReturnType<typeof target>[] = []) {
  const containers = (clock: number, share: number) =>
    Object.entries(cpu).map(([name, seconds]) => container(name, clock, seconds && seconds * share))
  const before = sample({ clock: 10, containers: containers(10, 0) })
  const after = sample({ clock: 20, containers: containers(20, 1), targets })
  const reading = readingBetween(before, after)
  return viewCurrent(AT, after, reading, reading)
}

describe('current metrics', () => {
  it('have containers in the order of their use, those that did not answer last and with nothing', () => {
    const { containers } = current({ idle: 0, busy: 15, silent: null, calm: 1 })
    expect(containers!.map(({ instance, cpu_percent }) => [instance, cpu_percent])).toEqual([
      ['busy', 150],
      ['calm', 10],
      ['idle', 0],
      ['silent', null],
    ])
    expect(containers!.at(-1)!.memory_bytes).toBeNull()
    expect(Object.keys(containers![0]!).sort()).toEqual(
      'cpu_limit cpu_percent id instance kind memory_bytes memory_limit_bytes name node'.split(' '),
    )
  })

  it('have no containers, not an empty list of them, if the engine does not answer', () => {
    const before = sample({ clock: 10, containers: null })
    const after = sample({ clock: 20, containers: null })
    expect(viewCurrent(AT, after, readingBetween(before, after), null)).toMatchObject({
      at: '2026-01-01T00:00:00.000Z',
      containers: null,
      requests: [],
    })
  })

  it('have services first and the busiest of them first, then the dashboard, then unrouted requests', () => {
    const { requests } = current({}, [
      target('unrouted', [90, 0, 0, 0]),
      target('srv-a', [1, 0, 0, 0]),
      target('dashboard', [50, 0, 0, 0]),
      target('srv-b', [7, 1, 1, 1]),
      target('srv-none', [0, 0, 0, 0]),
    ])
    expect(requests.map((each) => each.target)).toEqual(['srv-b', 'srv-a', 'dashboard', 'unrouted'])
    expect(requests[0]).toEqual({
      target: 'srv-b',
      name: expect.any(String),
      requests_per_sec: 1,
      status_2xx: 7,
      status_3xx: 1,
      status_4xx: 1,
      status_5xx: 1,
      p50_ms: expect.any(Number),
      p95_ms: expect.any(Number),
    })
  })

  it('have no latency if no request was timed', () => {
    const untimed = { ...target('srv-a', [3, 0, 0, 0]), latency: { buckets: emptyBuckets(), sumSeconds: 0 } }
    const { requests } = current({}, [untimed])
    expect(requests[0]).toMatchObject({ status_2xx: 3, p50_ms: null, p95_ms: null })
  })
})
