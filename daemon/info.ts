import { useContext } from '#server/context.ts'
import { seeksCertificates } from '#server/certificates/hosts.ts'
import { servedDomains } from '#server/domains/store.ts'
import { hookSecrets } from '#server/hooks/secrets.ts'
import type { ServerInfo } from '#server/info.ts'
import { publicUrl } from '#server/network/public-address.ts'
import { useApiAddress, useWorld } from './index.ts'

/** What the server is and runs on, for a client; the engine's fields are null while the engine does not answer. */
export async function serverInfo(clientIp: string): Promise<ServerInfo> {
  const { options, version } = useContext()
  const defaultDomain = servedDomains()[0]!
  const engine = await useWorld()
    .engine.info()
    .catch(() => null)
  return {
    version,
    base_domain: options.baseDomain,
    default_domain: defaultDomain,
    proxy_url: publicUrl(defaultDomain),
    dashboard_url: options.dashboardHost === null ? useApiAddress() : publicUrl(options.dashboardHost),
    runtime_version: engine?.version ?? null,
    node_version: process.versions.node,
    tls_enabled: seeksCertificates(),
    gitprov_webhook_enabled: hookSecrets().length > 0,
    gitprov_webhook_secret_set: options.webhookSecret !== null,
    default_memory_limit_mb: options.defaultMemoryMb,
    default_cpu_limit: options.defaultCpus,
    client_ip: clientIp,
    runtime_cpus: engine?.cpus ?? null,
    runtime_memory_bytes: engine?.memoryBytes ?? null,
  }
}
