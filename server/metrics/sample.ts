/** All measurements at one moment. Null means that it could not be read. */
export interface Sample {
  host: HostCounters
  /** Null when the container engine does not answer. */
  containers: ContainerCounters[] | null
  /** Null when the data plane does not answer. */
  requests: RequestCounters | null
}

/** The time of the monotonic clock, in seconds, so that a step of the wall clock changes no rate. */
type Clock = number

export interface HostCounters {
  clock: Clock
  cpuCount: number | null
  /** Seconds that all CPUs together spent in each mode (proc_stat(5)). */
  cpuSeconds: Record<string, number> | null
  memory: { totalBytes: number; availableBytes: number } | null
  disks: DiskCounters[]
  /** All interfaces except loopback and those of the container engine. */
  interfaces: InterfaceCounters[] | null
}

/** A file system and the device that it is on. */
export interface DiskCounters {
  mountPoint: string
  /** Major and minor number. Several file systems may be on one device. */
  device: string
  totalBytes: number | null
  usedBytes: number | null
  readBytes: number | null
  writtenBytes: number | null
}

export interface InterfaceCounters {
  device: string
  /** Whether it is real hardware. A virtual interface on top of one carries the same bytes again. */
  isPhysical: boolean
  receivedBytes: number
  transmittedBytes: number
}

export interface Subject {
  /** Id of the service or datastore. */
  id: string
  /** Unique over all environments: `api` in production, `api.staging` elsewhere. */
  name: string
  kind: 'service' | 'datastore'
}

export interface ContainerCounters extends Subject {
  clock: Clock
  /** The id of its node. */
  node: string
  /** The container's name. */
  container: string
  /** CPU seconds since it started. */
  cpuSeconds: number | null
  memoryBytes: number | null
  cpuLimit: number | null
  memoryLimitBytes: number | null
}

export interface RequestCounters {
  clock: Clock
  /** When it changes, all counts have started again at 0. */
  incarnation: string
  targets: TargetCounters[]
}

export interface TargetCounters {
  /** A service's id, `dashboard` or `unrouted`. */
  target: string
  /** Qualified name of the service; null when it is gone. */
  name: string | null
  statuses: StatusCounts
  latency: Latency
}

/** Requests by class: 2xx, 3xx, 4xx, 5xx. */
export type StatusCounts = [number, number, number, number]

/**
 * Requests by duration: one count for each bucket of `LATENCY_BUCKETS_SECONDS`, not cumulative, then one for those above the
 * last bound.
 */
export interface Latency {
  buckets: number[]
  sumSeconds: number
}
