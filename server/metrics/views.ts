import type { z } from 'zod'
import { timestamp } from '../clock.ts'
import type { At, History, RequestSteps } from './history.ts'
import { percentile } from './latency.ts'
import type { ContainerReading, Reading } from './reading.ts'
import type {
  ContainerUse,
  CurrentMetrics,
  MetricsHistory,
  Range,
  RequestTarget,
  ServiceMetrics,
} from './schema.ts'
import type { Sample } from './sample.ts'
import { windowOf, type Window } from './steps.ts'
import { byTarget } from './targets.ts'

/** How many instances the server's history has: with more, the lines of a chart could not be told apart. */
const SHOWN_CONTAINERS = 5
/** How many instances a service's history has, including those of earlier deploys. */
const SHOWN_INSTANCES = 20

/** Current metrics as the API returns them. `requests` is the last reading that included the data plane's counts. */
export function viewCurrent(
  at: number,
  sample: Sample,
  reading: Reading,
  requests: Reading | null,
): CurrentMetrics {
  const { host, disks, containers } = reading
  return {
    at: timestamp(at),
    host: {
      cpu_count: sample.host.cpuCount,
      cpu_percent: host.cpu_percent,
      memory_used_bytes: host.memory_used_bytes,
      memory_total_bytes: host.memory_total_bytes,
      network_rx_bytes_per_sec: host.network_rx_bytes_per_sec,
      network_tx_bytes_per_sec: host.network_tx_bytes_per_sec,
      disks,
    },
    containers: containers && viewContainers(containers),
    requests: (requests?.requests?.targets ?? [])
      .map(({ target, name, ...counted }) =>
        viewTarget(target, name, { seconds: requests!.requests!.seconds, ...counted }),
      )
      .sort(byTarget),
  }
}

/** What containers use as the API returns it, the busiest first. */
export function viewContainers(containers: readonly ContainerReading[]): z.infer<typeof ContainerUse>[] {
  return containers
    .map(({ id, name, kind, node, container, cpuPercent, cpuLimit, memoryBytes, memoryLimitBytes }) => ({
      id,
      name,
      kind,
      instance: kind === 'service' ? container : null,
      node,
      cpu_percent: cpuPercent,
      cpu_limit: cpuLimit,
      memory_bytes: memoryBytes,
      memory_limit_bytes: memoryLimitBytes,
    }))
    .sort((left, right) => (right.cpu_percent ?? -1) - (left.cpu_percent ?? -1))
}

/** The history of a range up to now as the API returns it. */
export function viewHistory(history: History, range: Range, now: number): MetricsHistory {
  const window = windowOf(range, now)
  const { seconds, targets } = history.requestTotals(window)
  return {
    ...viewWindow(window, now),
    host: history.hostSteps(window).map((step) => ({ ...step, at: timestamp(step.at) })),
    containers: history
      .containerTotals(window)
      .sort((left, right) => right.cpu - left.cpu)
      .slice(0, SHOWN_CONTAINERS)
      .map(({ container }) => viewContainer(history, container, window)),
    requests: history.requestSteps(null, window).map(viewRequests),
    request_targets: targets
      .map(({ target, ...counted }) =>
        viewTarget(target, history.subjectOf(target)?.name ?? null, { ...counted, seconds }),
      )
      .sort(byTarget),
  }
}

/** The history of one service as the API returns it. */
export function viewServiceMetrics(
  history: History,
  serviceId: string,
  range: Range,
  now: number,
): ServiceMetrics {
  const window = windowOf(range, now)
  return {
    ...viewWindow(window, now),
    instances: history
      .containersOf(serviceId)
      .map((instance) => ({ instance, points: viewPoints(history, instance, window) }))
      .filter(({ points }) => points.length > 0)
      .sort((left, right) => (left.points.at(-1)!.at < right.points.at(-1)!.at ? 1 : -1))
      .slice(0, SHOWN_INSTANCES),
    requests: history.requestSteps(serviceId, window).map(viewRequests),
  }
}

function viewWindow({ range, stepSeconds, first }: Window, now: number) {
  return { range, from: timestamp(first), to: timestamp(now), step_seconds: stepSeconds }
}

function viewContainer(
  history: History,
  container: string,
  window: Window,
): MetricsHistory['containers'][number] {
  const { id, name, kind } = history.subjectOf(container)!
  return {
    id,
    name,
    kind,
    instance: kind === 'service' ? container : null,
    points: viewPoints(history, container, window),
  }
}

function viewPoints(history: History, container: string, window: Window) {
  return history.containerSteps(container, window).map((step) => ({ ...step, at: timestamp(step.at) }))
}

function viewTarget(target: string, name: string | null, counted: RequestSteps): RequestTarget {
  // The service was deleted before its name was ever recorded.
  return { target, name: name ?? target, ...viewCounts(counted) }
}

function viewRequests(step: At<RequestSteps>): MetricsHistory['requests'][number] {
  return { at: timestamp(step.at), seconds: thousandths(step.seconds), ...viewCounts(step) }
}

function viewCounts({ seconds, statuses, buckets }: RequestSteps): Omit<RequestTarget, 'target' | 'name'> {
  const [status_2xx, status_3xx, status_4xx, status_5xx] = statuses
  const count = status_2xx + status_3xx + status_4xx + status_5xx
  return {
    requests_per_sec: seconds > 0 ? thousandths(count / seconds) : 0,
    status_2xx,
    status_3xx,
    status_4xx,
    status_5xx,
    p50_ms: percentile(buckets, 0.5),
    p95_ms: percentile(buckets, 0.95),
  }
}

function thousandths(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
