import { servedCertificates } from '#server/certificates/served.ts'
import { useContext } from '#server/context.ts'
import { KINDS } from '#server/datastores/kinds.ts'
import { allDatastores } from '#server/datastores/store.ts'
import { IN_PROGRESS } from '#server/deploys/states.ts'
import { latestDeploys, type DeployFacts } from '#server/deploys/store.ts'
import { hostOn } from '#server/environments/overlay.ts'
import { listEnvironments } from '#server/environments/store.ts'
import { isComingUp, type InstanceStatus } from '#server/instances/states.ts'
import { allInstances, type InstanceRow } from '#server/instances/store.ts'
import { servedDomains } from '#server/domains/store.ts'
import { publicUrl } from '#server/network/public-address.ts'
import { allHostsOf, customDomainsOf } from '#server/services/hosts.ts'
import { listRedirectHosts } from '#server/redirect-hosts/store.ts'
import { listServices, type ServiceRow } from '#server/services/store.ts'
import { TYPES } from '#server/services/types.ts'
import {
  DASHBOARD_TARGET,
  type Edge,
  type ListenerSpec,
  type RouteTable,
  type Site,
  type Target,
  type Upstream,
} from '#proxy/protocol.ts'
import { proofs } from './proofs.ts'
import { verificationKey } from '#server/domains/verification-key.ts'
import { edgeOf } from './edge.ts'
import { publishedSites } from './sites.ts'
import { ZoneBook } from './zones.ts'

/** What gets requests before it is recorded, so that nothing is reported before it is true. */
export interface Ahead {
  /** Deploys that become live, by service id. */
  live: Map<string, string>
  /** What instances that came up become, by their id. */
  instances: Map<string, InstanceStatus>
}

export const NOTHING_AHEAD: Ahead = { live: new Map(), instances: new Map() }

/**
 * Builds the whole route table from the database, without its version. `apiPort` is where the control plane listens; `found`
 * has what serves each service instead of its recorded instances.
 */
export function buildTable(
  listeners: ListenerSpec[],
  apiPort: number,
  ahead: Ahead,
  found: ReadonlyMap<string, Upstream[]> | null = null,
): Omit<RouteTable, 'version'> {
  const { options } = useContext()
  const book = new ZoneBook()
  const table: Omit<RouteTable, 'version'> = {
    listeners,
    hosts: {},
    targets: {},
    zones: book.zones,
    certificates: servedCertificates(),
    acme_challenges: Object.fromEntries(proofs.tokens),
    tls_challenges: Object.fromEntries(proofs.handshakes),
    verification_key: verificationKey(),
    hsts_seconds: options.hstsSeconds,
    h2c: options.h2c,
    trusted_proxies: options.trustedProxies,
    upstream_timeout_ms: options.upstreamTimeoutMs,
    max_connections_per_ip: options.maxConnectionsPerIp,
  }
  if (options.dashboardHost !== null) {
    table.hosts[options.dashboardHost] = DASHBOARD_TARGET
    table.targets[DASHBOARD_TARGET] = {
      id: DASHBOARD_TARGET,
      state: 'serving',
      upstreams: [{ instance: DASHBOARD_TARGET, host: apiHost(options.listen.host), port: apiPort }],
    }
  }
  const domains = servedDomains()
  const sites = publishedSites(ahead.live)
  const instances = Map.groupBy(allInstances().map(withStatusAhead(ahead)), ({ service_id }) => service_id)
  addDatastores(book)
  for (const environment of listEnvironments()) {
    const latest = latestDeploys(environment.id)
    for (const service of listServices(environment.id)) {
      if (service.deleting) continue
      const site = sites.get(service.id)
      const recorded = targetOf(
        service,
        latest.get(service.id),
        instances.get(service.id) ?? [],
        ahead.live.get(service.id),
        site,
      )
      const target = found && !site ? foundTarget(service, found.get(service.id) ?? []) : recorded
      if (TYPES[service.type].listens) book.add(environment.id, service.name, target.upstreams)
      const hosts = allHostsOf(service, environment, domains)
      for (const host of hosts) table.hosts[host] = service.id
      if (hosts.length === 0) continue
      const edge = edgeOf(service, environment)
      redirectToCanonical(table, service, edge)
      table.targets[service.id] = edge ? { ...target, edge } : target
    }
  }
  addRedirectHosts(table)
  return table
}

function addRedirectHosts({ hosts, targets }: Pick<RouteTable, 'hosts' | 'targets'>): void {
  for (const { id, host, target, keep_path, status } of listRedirectHosts()) {
    hosts[host] = id
    const redirect =
      keep_path === 1
        ? { redirect: target.replace(/(?<!\/)\/+$/, '') }
        : { redirect: target, redirect_keeps_path: false }
    targets[id] = { id, state: 'serving', upstreams: [], ...redirect, redirect_status: status }
  }
}

function withStatusAhead({ instances }: Ahead): (instance: InstanceRow) => InstanceRow {
  return (instance) => {
    const status = instance.status === 'draining' ? undefined : instances.get(instance.id)
    return status === undefined ? instance : { ...instance, status }
  }
}

function addDatastores(book: ZoneBook): void {
  for (const { id, environment_id, name, kind, address, node_id } of allDatastores()) {
    const host = address === null ? null : hostOn(node_id, environment_id, address)
    const upstreams = host === null ? [] : [{ instance: id, host, port: KINDS[kind].port }]
    book.add(environment_id, name, upstreams)
  }
}

/** Redirects requests for a service's other custom domains to its canonical one; they count as the service's. */
function redirectToCanonical(
  { hosts, targets }: Pick<RouteTable, 'hosts' | 'targets'>,
  service: ServiceRow,
  edge: Edge | undefined,
): void {
  const { id, canonical_domain } = service
  const others = customDomainsOf(service).filter((host) => host !== canonical_domain)
  if (canonical_domain === null || others.length === 0) return
  const key = `${id} canonical`
  const redirect = publicUrl(canonical_domain)
  targets[key] = { id, state: 'serving', upstreams: [], redirect, ...(edge && { edge }) }
  for (const host of others) hosts[host] = key
}

function targetOf(
  service: ServiceRow,
  latest: DeployFacts | undefined,
  instances: InstanceRow[],
  switchingTo: string | undefined,
  site: Site | undefined,
): Target {
  const state = targetState({ ...service, live_deploy_id: switchingTo ?? service.live_deploy_id }, latest)
  if (state !== 'serving') return { id: service.id, state, upstreams: [] }
  const target = { id: service.id, state, ...(service.compression === 1 && { compression: true }) }
  if (site) return { ...target, upstreams: [], site }
  const deployId = switchingTo ?? service.live_deploy_id
  const ofDeploy = instances.filter((each) => each.deploy_id === deployId && each.status !== 'draining')
  if (switchingTo !== undefined) return { ...target, upstreams: toUpstreams(ofDeploy) }
  if (isComingUp(ofDeploy.map(({ status }) => status))) return { ...target, state: 'starting', upstreams: [] }
  return { ...target, upstreams: upstreamsOf(ofDeploy) }
}

/** The target of a service whose containers were found in the engine. */
function foundTarget({ id, compression }: ServiceRow, upstreams: Upstream[]): Target {
  const state = upstreams.length > 0 ? 'serving' : 'not_deployed'
  return { id, state, ...(compression === 1 && { compression: true }), upstreams }
}

function targetState(service: ServiceRow, latest: DeployFacts | undefined): Target['state'] {
  if (service.suspended) return 'suspended'
  if (service.live_deploy_id !== null) return service.instances === 0 ? 'scaled_to_zero' : 'serving'
  if (!latest || latest.status === 'canceled') return 'not_deployed'
  return IN_PROGRESS.includes(latest.status) ? 'starting' : 'failed'
}

/** Returns the ready instances of a deploy; if there are none, those that fail their probe, which may still answer. */
function upstreamsOf(ofDeploy: InstanceRow[]): Upstream[] {
  const ready = toUpstreams(ofDeploy.filter(({ status }) => status === 'ready'))
  return ready.length > 0 ? ready : toUpstreams(ofDeploy.filter(({ status }) => status === 'failing'))
}

function toUpstreams(instances: InstanceRow[]): Upstream[] {
  return instances
    .filter(({ upstream_port }) => upstream_port !== null)
    .map(({ id, upstream_host, upstream_port }) => ({
      instance: id,
      host: upstream_host!,
      port: upstream_port!,
    }))
}

/** Returns an address that reaches the control plane, also when it listens on all of them. */
function apiHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

let lastVersion = 0

/** Returns a version for the next table: the time, or one more than the last, so that people see which is newer. */
export function nextTableVersion(): number {
  lastVersion = Math.max(Date.now(), lastVersion + 1)
  return lastVersion
}
