import { read, type DefaultColumns, type EdgeColumns, type KeptBasicAuth } from '#server/edge/columns.ts'
import { plainSource } from '#server/edge/addresses.ts'
import type { Edge as Shown } from '#server/edge/schema.ts'
import type { Edge } from '#proxy/protocol.ts'

const MIB = 1024 * 1024

/**
 * What the data plane does with the requests of a service: what the service asks for, and its environment for what the service
 * has none of its own. Undefined if that is nothing.
 */
export function edgeOf(service: EdgeColumns, environment: DefaultColumns): Edge | undefined {
  const allowed = read<{ source: string }[]>(service.ip_allow_list ?? environment.ip_allow_list)
  const redirects = read<Edge['redirects']>(service.redirects)
  const rate_limit = read<Edge['rate_limit']>(service.rate_limit)
  const basic_auth = read<KeptBasicAuth>(service.basic_auth ?? environment.basic_auth)
  const headers = read<Edge['headers']>(service.headers)
  const { upstream_timeout_seconds, max_body_mb } = service
  const edge: Edge = {
    ...(allowed && { allow: allowed.map(({ source }) => plainSource(source)) }),
    ...(redirects && { redirects }),
    ...maintenanceOf(read(service.maintenance)),
    ...(rate_limit && { rate_limit }),
    ...(basic_auth && { basic_auth }),
    ...(headers && { headers }),
    ...(service.session_affinity === 1 && { session_affinity: true }),
    ...(upstream_timeout_seconds !== null && { upstream_timeout_ms: upstream_timeout_seconds * 1_000 }),
    ...(max_body_mb !== null && { max_body_bytes: max_body_mb * MIB }),
    ...(service.access_log === 1 && { access_log: true }),
  }
  return Object.keys(edge).length === 0 ? undefined : edge
}

function maintenanceOf(maintenance: Shown['maintenance']): Pick<Edge, 'maintenance'> {
  if (!maintenance?.enabled) return {}
  const { message, page, retry_after_seconds, allow_ips } = maintenance
  return {
    maintenance: {
      ...(message !== null && { message }),
      ...(page !== null && { page }),
      retry_after_seconds,
      ...(allow_ips.length > 0 && { allow: allow_ips.map(plainSource) }),
    },
  }
}
