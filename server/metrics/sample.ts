/** Everything that is measured, as it stood at one moment. Null is what could not be read. */
export interface Sample {
  host: HostCounters
  /** Null when the container engine does not answer. */
  containers: ContainerCounters[] | null
  /** Null when the data plane does not answer. */
  requests: RequestCounters | null
}

/** A moment on the monotonic clock, in seconds, so that a step of the wall clock changes no speed. */
type Clock = number

export interface HostCounters {
  clock: Clock
  cpuCount: number | null
  /** Seconds that all CPUs together spent in each mode (proc_stat(5)). */
  cpuSeconds: Record<string, number> | null
  memory: { totalBytes: number; availableBytes: number } | null
  disks: DiskCounters[]
  /** Every interface but loopback and the container engine's own. */
  interfaces: InterfaceCounters[] | null
}

/** A file system, and the device that it is on. */
export interface DiskCounters {
  mountPoint: string
  /** Major and minor number: several file systems may be on one. */
  device: string
  totalBytes: number | null
  usedBytes: number | null
  readBytes: number | null
  writtenBytes: number | null
}

export interface InterfaceCounters {
  device: string
  /** Whether hardware is behind it; what is stacked on such a one carries the same bytes again. */
  isPhysical: boolean
  receivedBytes: number
  transmittedBytes: number
}

export interface Subject {
  /** Of the service or datastore. */
  id: string
  /** Clear over all environments: `api` in production, `api.staging` elsewhere. */
  name: string
  kind: 'service' | 'datastore'
}

export interface ContainerCounters extends Subject {
  clock: Clock
  /** The container's name. */
  container: string
  /** Since it started. */
  cpuSeconds: number | null
  memoryBytes: number | null
  cpuLimit: number | null
  memoryLimitBytes: number | null
}

export interface RequestCounters {
  clock: Clock
  /** Another one means that all counts began at 0 again. */
  incarnation: string
  targets: TargetCounters[]
}

export interface TargetCounters {
  /** A service's id, `dashboard` or `unrouted`. */
  target: string
  /** Of the service, qualified; null when it is gone. */
  name: string | null
  statuses: StatusCounts
  latency: Latency
}

/** Requests by class: 2xx, 3xx, 4xx, 5xx. */
export type StatusCounts = [number, number, number, number]

/** Requests by how long they took: per bucket of `LATENCY_BUCKETS_SECONDS`, not cumulative, then those above the last bound. */
export interface Latency {
  buckets: number[]
  sumSeconds: number
}
