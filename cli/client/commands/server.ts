import type { ServerInfo } from '#server/info.ts'
import type { Call } from '../../call.ts'
import { printFields } from '../columns.ts'
import { sizeText } from '../figures.ts'
import { withApi } from '../with-api.ts'

const MEBIBYTE = 1024 * 1024

/** Shows what the server is and runs on. */
export async function info(call: Call): Promise<void> {
  const { out } = call
  const facts = await withApi(call, (api) => api.get<ServerInfo>('/info'))
  if (out.isJson) return out.json(facts)
  const size = (bytes: number | null): string | null =>
    bytes === null ? null : out.isTerminal ? sizeText(bytes) : String(bytes)
  printFields(out, [
    ['version', facts.version],
    ['dashboard', facts.dashboard_url],
    ['services at', facts.proxy_url],
    ['base domain', facts.base_domain],
    ['default domain', facts.default_domain],
    ['TLS', facts.tls_enabled ? 'on' : 'off'],
    ['engine', facts.runtime_version ?? 'does not answer'],
    ['CPUs', facts.runtime_cpus === null ? null : String(facts.runtime_cpus)],
    ['memory', size(facts.runtime_memory_bytes)],
    ['default CPU limit', String(facts.default_cpu_limit)],
    ['default memory limit', size(facts.default_memory_limit_mb * MEBIBYTE)],
  ])
}
