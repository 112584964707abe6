import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LATENCY_BUCKETS_SECONDS } from '#proxy/latency-buckets.ts'
import { percentile } from '#server/metrics/latency.ts'
import { readingBetween } from '#server/metrics/reading.ts'
import type { ContainerCounters, Sample, TargetCounters } from '#server/metrics/sample.ts'
import { container, disk, emptyBuckets, host, sample, target } from './metrics-samples.ts'

describe('a percentile', () => {
  it('is in the bucket of its request, or at its edge', () => {
    const latency = fc.double({ min: 0.000_01, max: 299, noNaN: true })
    fc.assert(
      fc.property(fc.array(latency, { minLength: 1 }), fc.constantFrom(0.5, 0.95), (latencies, share) => {
        const buckets = emptyBuckets()
        for (const seconds of latencies) buckets[bucketOf(seconds)]!++
        const sorted = latencies.toSorted((left, right) => left - right)
        const bucket = bucketOf(sorted[Math.ceil(share * sorted.length) - 1]!)
        const found = percentile(buckets, share)! / 1_000
        expect(found).toBeGreaterThanOrEqual((LATENCY_BUCKETS_SECONDS[bucket - 1] ?? 0) - 1e-6)
        expect(found).toBeLessThanOrEqual(LATENCY_BUCKETS_SECONDS[bucket]! + 1e-6)
      }),
    )
  })

  it('is null without a request, and the last bound when it took longer than that', () => {
    expect(percentile(emptyBuckets(), 0.5)).toBeNull()
    const buckets = emptyBuckets()
    buckets[LATENCY_BUCKETS_SECONDS.length] = 3
    expect(percentile(buckets, 0.5)).toBe(300_000)
  })
})

function bucketOf(seconds: number): number {
  const index = LATENCY_BUCKETS_SECONDS.findIndex((bound) => seconds <= bound)
  return index === -1 ? LATENCY_BUCKETS_SECONDS.length : index
}

describe('speeds between two samples', () => {
  const cpu = (busy: number, idle: number) => ({ user: busy, system: 0, idle, iowait: 0 })

  it('are those of the whole machine', () => {
    const before = sample({ clock: 10, cpuSeconds: cpu(0, 0) })
    const after = sample({ clock: 20, cpuSeconds: cpu(5, 15) })
    expect(readingBetween(before, after).host).toMatchObject({
      cpu_percent: 25,
      memory_used_bytes: 600,
      memory_total_bytes: 1_000,
    })
  })

  it('count every device once, however many file systems are on it', () => {
    const disks = (read: number) => [
      disk('/', '8:1', read),
      disk('/srv', '8:1', read),
      disk('/b', '8:2', read),
    ]
    const before = sample({ clock: 10, disks: disks(0) })
    const after = sample({ clock: 20, disks: disks(1_000) })
    expect(readingBetween(before, after)).toMatchObject({
      host: { disk_read_bytes_per_sec: 200 },
      disks: [{ read_bytes_per_sec: 100 }, { read_bytes_per_sec: 100 }, { read_bytes_per_sec: 100 }],
    })
  })

  it('count bytes once that pass through a bridge or a tunnel above a real interface', () => {
    const interfaces = (bytes: number) => [
      { device: 'eth0', isPhysical: true, receivedBytes: bytes, transmittedBytes: 0 },
      { device: 'wg0', isPhysical: false, receivedBytes: bytes, transmittedBytes: 0 },
    ]
    const before = sample({ clock: 10, interfaces: interfaces(0) })
    const after = sample({ clock: 20, interfaces: interfaces(500) })
    expect(readingBetween(before, after).host.network_rx_bytes_per_sec).toBe(50)
  })

  it('count from the beginning of a counter that went back', () => {
    const before = sample({ clock: 10, disks: [disk('/', '8:1', 9_000)] })
    const after = sample({ clock: 20, disks: [disk('/', '8:1', 500)] })
    expect(readingBetween(before, after).host.disk_read_bytes_per_sec).toBe(50)
  })

  it.each([
    ['over more than a minute', 71],
    ['over no time', 10],
    ['backwards', 5],
  ])('are unknown %s', (_, clock) => {
    const before = sample({ clock: 10, containers: [container('a', 10, 0)] })
    const after = sample({ clock, containers: [container('a', clock, 5)] })
    const reading = readingBetween(before, after)
    expect(reading.host).toMatchObject({ cpu_percent: null, memory_used_bytes: 600 })
    expect(reading.host.disk_read_bytes_per_sec).toBeNull()
    expect(reading.containers![0]).toMatchObject({ cpuPercent: null, memoryBytes: 100 })
    expect(reading.requests).toBeNull()
  })

  it('are unknown for what could not be read', () => {
    const nothing: Sample = {
      host: { ...host(20), cpuCount: null, cpuSeconds: null, memory: null, disks: [], interfaces: null },
      containers: null,
      requests: null,
    }
    const { host: read, containers, requests } = readingBetween(sample({ clock: 10 }), nothing)
    expect(Object.values(read)).toEqual(Array(7).fill(null))
    expect([containers, requests]).toEqual([null, null])
  })
})

describe('the CPU of a container', () => {
  const percent = (before: ContainerCounters[] | null, after: ContainerCounters) =>
    readingBetween(sample({ clock: 10, containers: before }), sample({ clock: 20, containers: [after] }))
      .containers![0]!.cpuPercent

  it('is relative to one core, whatever the machine has', () => {
    expect(percent([container('a', 10, 100)], container('a', 20, 115))).toBe(150)
  })

  it('is all that it used if it began since, or began again', () => {
    expect(percent([container('b', 10, 7)], container('a', 20, 5))).toBe(50)
    expect(percent([container('a', 10, 100)], container('a', 20, 2))).toBe(20)
  })

  it('is unknown if one of the readings failed', () => {
    expect(percent([container('a', 10, null)], container('a', 20, 5))).toBeNull()
    expect(percent([container('a', 10, 5)], container('a', 20, null))).toBeNull()
    expect(percent(null, container('a', 20, 5))).toBeNull()
  })
})

describe('requests between two samples', () => {
  const between = (before: TargetCounters[], after: TargetCounters[], incarnation = 'one') =>
    readingBetween(sample({ clock: 10, targets: before }), sample({ clock: 20, targets: after, incarnation }))
      .requests!

  it('are those of targets that had any', () => {
    const { seconds, targets } = between(
      [target('srv-a', [5, 0, 0, 0]), target('srv-b', [9, 0, 0, 0])],
      [target('srv-a', [8, 1, 0, 0]), target('srv-b', [9, 0, 0, 0]), target('unrouted', [0, 0, 2, 0])],
    )
    expect(seconds).toBe(10)
    expect(targets.map(({ target, statuses }) => [target, statuses])).toEqual([
      ['srv-a', [3, 1, 0, 0]],
      ['unrouted', [0, 0, 2, 0]],
    ])
  })

  it('are all that a restarted data plane has counted', () => {
    const { targets } = between([target('srv-a', [5, 0, 0, 0])], [target('srv-a', [8, 0, 0, 0])], 'two')
    expect(targets[0]!.statuses).toEqual([8, 0, 0, 0])
  })
})
