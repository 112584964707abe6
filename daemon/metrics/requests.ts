import { isId } from '#server/ids.ts'
import type { RequestCounters } from '#server/metrics/sample.ts'
import { isService } from '#server/metrics/targets.ts'
import { getRedirectHost } from '#server/redirect-hosts/store.ts'
import type { DataPlane } from '../proxy/data-plane.ts'
import { serviceSubjects } from './containers.ts'
import { keepSums } from './kept-sums.ts'
import type { RequestSums } from './request-sums.ts'

/** Reads the request counters of all data planes; null if the own one does not answer. */
export async function readRequests(
  { dataPlane }: { dataPlane: DataPlane },
  sums: RequestSums,
): Promise<RequestCounters | null> {
  try {
    const own = await dataPlane.counts()
    const { incarnation, targets } = sums.total(own, dataPlane.others?.counts() ?? new Map())
    keepSums(sums)
    const services = serviceSubjects()
    return {
      clock: performance.now() / 1_000,
      incarnation,
      targets: Object.entries(targets).map(([target, counts]) => ({
        target,
        name: nameOf(target, services),
        statuses: [counts.status_2xx, counts.status_3xx, counts.status_4xx, counts.status_5xx],
        latency: { buckets: counts.latency_buckets, sumSeconds: counts.latency_sum_seconds },
      })),
    }
  } catch {
    return null
  }
}

/** What people call a target; null for what is gone. */
function nameOf(target: string, services: ReadonlyMap<string, { name: string }>): string | null {
  if (isService(target)) return services.get(target)?.name ?? null
  return isId('redirectHost', target) ? (getRedirectHost(target)?.host ?? null) : target
}
