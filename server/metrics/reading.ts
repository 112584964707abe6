import type {
  ContainerCounters,
  HostCounters,
  RequestCounters,
  Sample,
  StatusCounts,
  Subject,
  TargetCounters,
} from './sample.ts'

/** What happened between two samples, and the state at the later one. Null means not known. */
export interface Reading {
  host: HostReading
  disks: DiskReading[]
  containers: ContainerReading[] | null
  requests: RequestReading | null
}

export interface HostReading {
  cpu_percent: number | null
  memory_used_bytes: number | null
  memory_total_bytes: number | null
  disk_read_bytes_per_sec: number | null
  disk_write_bytes_per_sec: number | null
  network_rx_bytes_per_sec: number | null
  network_tx_bytes_per_sec: number | null
}

interface DiskReading {
  mount_point: string
  total_bytes: number | null
  used_bytes: number | null
  read_bytes_per_sec: number | null
  write_bytes_per_sec: number | null
}

export interface ContainerReading extends Subject {
  /** The id of its node. */
  node: string
  container: string
  /** 100 is one core. */
  cpuPercent: number | null
  memoryBytes: number | null
  cpuLimit: number | null
  memoryLimitBytes: number | null
}

export interface RequestReading {
  /** Over which time requests were counted. */
  seconds: number
  /** The targets that had any request. */
  targets: TargetReading[]
}

export interface TargetReading {
  target: string
  name: string | null
  statuses: StatusCounts
  buckets: number[]
}

/** No rates are computed between samples further apart: the server did not run, or the engine did not answer. */
const MAX_GAP_SECONDS = 60
const PERCENT = 100

/** Computes the reading from two samples. */
export function readingBetween(before: Sample, after: Sample): Reading {
  return {
    host: hostReading(before.host, after.host),
    disks: diskReadings(before.host, after.host),
    containers: after.containers && containerReadings(before.containers, after.containers),
    requests: after.requests && before.requests && requestReading(before.requests, after.requests),
  }
}

/** The increase of a counter. A counter that went down started again at 0. */
function increase(before: number, after: number): number {
  return after >= before ? after - before : after
}

/** The seconds between two samples; null when no rate can be computed. */
function secondsBetween(before: { clock: number }, after: { clock: number }): number | null {
  const seconds = after.clock - before.clock
  return seconds > 0 && seconds <= MAX_GAP_SECONDS ? seconds : null
}

function perSecond(before: number | null, after: number | null, seconds: number | null): number | null {
  if (before === null || after === null || seconds === null) return null
  return Math.round(increase(before, after) / seconds)
}

function hostReading(before: HostCounters, after: HostCounters): HostReading {
  const seconds = secondsBetween(before, after)
  const disk = (key: 'readBytes' | 'writtenBytes') =>
    perSecond(ofDisks(before, key), ofDisks(after, key), seconds)
  const network = (key: 'receivedBytes' | 'transmittedBytes') =>
    perSecond(ofInterfaces(before, key), ofInterfaces(after, key), seconds)
  const { memory } = after
  return {
    cpu_percent: seconds === null ? null : cpuPercent(before.cpuSeconds, after.cpuSeconds),
    memory_used_bytes: memory && memory.totalBytes - memory.availableBytes,
    memory_total_bytes: memory && memory.totalBytes,
    disk_read_bytes_per_sec: disk('readBytes'),
    disk_write_bytes_per_sec: disk('writtenBytes'),
    network_rx_bytes_per_sec: network('receivedBytes'),
    network_tx_bytes_per_sec: network('transmittedBytes'),
  }
}

function cpuPercent(before: HostCounters['cpuSeconds'], after: HostCounters['cpuSeconds']): number | null {
  if (!before || !after) return null
  const spent = Object.entries(after).map(
    ([mode, seconds]) => [mode, increase(before[mode] ?? 0, seconds)] as const,
  )
  const total = spent.reduce((sum, [, seconds]) => sum + seconds, 0)
  const idle = spent.reduce(
    (sum, [mode, seconds]) => (mode === 'idle' || mode === 'iowait' ? sum + seconds : sum),
    0,
  )
  return total > 0 ? hundredths(((total - idle) / total) * PERCENT) : null
}

/** The sum over all devices, each counted once; null when none can be read. */
function ofDisks({ disks }: HostCounters, key: 'readBytes' | 'writtenBytes'): number | null {
  return sumOf(new Map(disks.map((disk) => [disk.device, disk[key]])).values())
}

function ofInterfaces(
  { interfaces }: HostCounters,
  key: 'receivedBytes' | 'transmittedBytes',
): number | null {
  const physical = interfaces?.filter(({ isPhysical }) => isPhysical)
  return sumOf((physical?.length ? physical : (interfaces ?? [])).map((each) => each[key]))
}

function sumOf(values: Iterable<number | null>): number | null {
  const known = [...values].filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

function diskReadings(before: HostCounters, after: HostCounters): DiskReading[] {
  const seconds = secondsBetween(before, after)
  const known = new Map(before.disks.map((disk) => [`${disk.device} ${disk.mountPoint}`, disk]))
  return after.disks.map((disk) => {
    const former = known.get(`${disk.device} ${disk.mountPoint}`)
    return {
      mount_point: disk.mountPoint,
      total_bytes: disk.totalBytes,
      used_bytes: disk.usedBytes,
      read_bytes_per_sec: perSecond(former?.readBytes ?? null, disk.readBytes, seconds),
      write_bytes_per_sec: perSecond(former?.writtenBytes ?? null, disk.writtenBytes, seconds),
    }
  })
}

function containerReadings(
  before: ContainerCounters[] | null,
  after: ContainerCounters[],
): ContainerReading[] {
  const known = new Map(before?.map((each) => [each.container, each]))
  // All containers of a node were listed then, so a container that was not there has used everything since.
  const starts = new Map<string, number>()
  for (const { node, clock } of before ?? []) starts.set(node, Math.max(clock, starts.get(node) ?? clock))
  return after.map((each) => {
    const start = starts.get(each.node) ?? null
    const { id, name, kind, node, container, memoryBytes, cpuLimit, memoryLimitBytes } = each
    const former = known.get(container) ?? (start === null ? null : { clock: start, cpuSeconds: 0 })
    const cpuPercent = former && containerPercent(former, each)
    return { id, name, kind, node, container, cpuPercent, memoryBytes, cpuLimit, memoryLimitBytes }
  })
}

function containerPercent(
  before: Pick<ContainerCounters, 'clock' | 'cpuSeconds'>,
  after: ContainerCounters,
): number | null {
  const seconds = secondsBetween(before, after)
  if (seconds === null || before.cpuSeconds === null || after.cpuSeconds === null) return null
  return hundredths((increase(before.cpuSeconds, after.cpuSeconds) / seconds) * PERCENT)
}

function requestReading(before: RequestCounters, after: RequestCounters): RequestReading | null {
  const seconds = secondsBetween(before, after)
  if (seconds === null) return null
  const known = new Map(
    before.incarnation === after.incarnation ? before.targets.map((each) => [each.target, each]) : [],
  )
  const targets = after.targets.map((each) => targetReading(known.get(each.target), each))
  return {
    seconds,
    targets: targets.filter(({ statuses }) => statuses.some((count) => count > 0)),
  }
}

function targetReading(before: TargetCounters | undefined, after: TargetCounters): TargetReading {
  return {
    target: after.target,
    name: after.name,
    statuses: after.statuses.map((count, index) =>
      increase(before?.statuses[index] ?? 0, count),
    ) as StatusCounts,
    buckets: after.latency.buckets.map((count, index) =>
      increase(before?.latency.buckets[index] ?? 0, count),
    ),
  }
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}
