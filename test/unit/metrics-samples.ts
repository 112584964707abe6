import { LATENCY_BUCKETS_SECONDS } from '#proxy/latency-buckets.ts'
import type {
  ContainerCounters,
  DiskCounters,
  HostCounters,
  Sample,
  StatusCounts,
  TargetCounters,
} from '#server/metrics/sample.ts'

interface Given extends Partial<HostCounters> {
  clock: number
  containers?: ContainerCounters[] | null
  targets?: TargetCounters[]
  incarnation?: string
}

/** A sample in which everything could be read. */
export function sample({ containers = [], targets = [], incarnation = 'one', ...given }: Given): Sample {
  return {
    host: { ...host(given.clock), ...given },
    containers,
    requests: { clock: given.clock, incarnation, targets },
  }
}

export function host(clock: number): HostCounters {
  return {
    clock,
    cpuCount: 2,
    cpuSeconds: { user: 0, idle: 0 },
    memory: { totalBytes: 1_000, availableBytes: 400 },
    disks: [disk('/', '8:1', 0)],
    interfaces: [],
  }
}

export function disk(mountPoint: string, device: string, readBytes: number): DiskCounters {
  return { mountPoint, device, totalBytes: 100, usedBytes: 50, readBytes, writtenBytes: 0 }
}

/** An instance of the service `srv-x`. */
export function container(name: string, clock: number, cpuSeconds: number | null): ContainerCounters {
  return {
    id: 'srv-x',
    name: 'api',
    kind: 'service',
    node: 'nod-x',
    container: name,
    clock,
    cpuSeconds,
    memoryBytes: cpuSeconds === null ? null : 100,
    cpuLimit: 1,
    memoryLimitBytes: 200,
  }
}

/** A target with all its answers in one bucket. */
export function target(id: string, statuses: StatusCounts, bucket = 4): TargetCounters {
  const buckets = emptyBuckets()
  buckets[bucket] = statuses.reduce((sum, count) => sum + count, 0)
  return { target: id, name: id.replace('srv-', ''), statuses, latency: { buckets, sumSeconds: 1 } }
}

export function emptyBuckets(): number[] {
  return Array.from({ length: LATENCY_BUCKETS_SECONDS.length + 1 }, () => 0)
}
