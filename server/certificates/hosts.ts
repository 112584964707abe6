import { announce, announceService } from '../changes.ts'
import { useContext } from '../context.ts'
import { isLocalName } from '../domains/names.ts'
import { isServed, listDomains, servedDomains } from '../domains/store.ts'
import { listEnvironments } from '../environments/store.ts'
import { customDomainsOf, hostsOf, placeOf } from '../services/hosts.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { listRedirectHosts } from '../redirect-hosts/store.ts'
import { listServices } from '../services/store.ts'
import { listUploaded, type UploadedRow } from './store.ts'

/** A hostname that the data plane routes: to a service, to another address, or to the dashboard. */
export interface RoutedHost {
  host: string
  /** Its qualified name. */
  service: string | null
  serviceId: string | null
  /** Where a redirect host leads. */
  redirectsTo: string | null
  /** The server's domain under which the host has the service's name; null for all other hosts. */
  domain: string | null
}

/** Every hostname that is routed: the dashboard's first, those of services by environment and name, then redirect hosts. */
export function routedHosts(): RoutedHost[] {
  const { dashboardHost } = useContext().options
  const domains = servedDomains()
  const hosts: RoutedHost[] =
    dashboardHost === null ? [] : [{ host: dashboardHost, ...NO_SERVICE, redirectsTo: null }]
  for (const environment of listEnvironments()) {
    for (const service of listServices(environment.id)) {
      if (service.deleting) continue
      const name = qualifiedName(service.name, environment)
      const owner = { service: name, serviceId: service.id, redirectsTo: null }
      for (const domain of domains)
        for (const host of hostsOf(service, environment, [domain])) hosts.push({ host, ...owner, domain })
      for (const host of customDomainsOf(service)) hosts.push({ host, ...owner, domain: null })
    }
  }
  for (const { host, target } of listRedirectHosts()) hosts.push({ host, ...NO_SERVICE, redirectsTo: target })
  return hosts
}

const NO_SERVICE = { service: null, serviceId: null, domain: null }

/** Reports new certificates, which have no kind of their own in the change feed, as changes of what these hosts serve. */
export function announceCertified(hosts: readonly RoutedHost[]): void {
  for (const id of new Set(hosts.map(({ serviceId }) => serviceId))) {
    if (id !== null) announceService(id)
    else announce({ kind: 'domain', id: listDomains()[0]!.id, service_id: null, action: 'updated' })
  }
}

/** Whether the server orders certificates: TLS is on, and some host is not local. */
export function seeksCertificates(): boolean {
  if (useContext().options.tls === 'off') return false
  return (
    servedDomains().some((name) => !isLocalName(name)) || routedHosts().some(({ host }) => !isLocalName(host))
  )
}

/** The uploaded certificates by name; the newest wins, expired ones are ignored. */
export class UploadedBook {
  readonly #byName = new Map<string, UploadedRow>()

  constructor(now: number = Date.now()) {
    for (const row of listUploaded().toReversed()) {
      if (row.not_after <= now) continue
      for (const name of JSON.parse(row.hosts) as string[]) this.#byName.set(name, row)
    }
  }

  /** The certificate for a host: by its own name, or else by the wildcard one label above. */
  find(host: string): UploadedRow | undefined {
    return this.#byName.get(host) ?? this.#byName.get(`*${host.slice(host.indexOf('.'))}`)
  }
}

/** The names that authorities are asked to certify, for the hosts that need them. */
export class CertificateNames {
  /** The parent names whose hosts share a wildcard, and their domains; empty when the server cannot prove wildcards. */
  readonly #places: Map<string, string>
  /** Served domains whose names do not lead to the server yet: the base domain is served from the start. */
  readonly #waiting: Set<string>

  constructor() {
    const domains = listDomains().filter(({ name }) => !isLocalName(name))
    const hasWildcards = useContext().options.acme.dns !== null
    const environments = hasWildcards ? listEnvironments() : []
    const served = domains.filter(isServed)
    this.#places = new Map(
      served.flatMap(({ name }) =>
        environments.map((environment) => [placeOf(environment, name), name] as const),
      ),
    )
    this.#waiting = new Set(served.filter(({ status }) => status === 'pending').map(({ name }) => name))
  }

  /** The name of the certificate that covers a host. A host with DNS records of its own does not wait for a wildcard. */
  nameOf({ host, domain }: Pick<RoutedHost, 'host' | 'domain'>): string {
    const parent = host.slice(host.indexOf('.') + 1)
    const place = this.#places.get(parent)
    const isCovered = place !== undefined && (domain !== null || !this.#waiting.has(place))
    return isCovered ? `*.${parent}` : host
  }

  /**
   * The domain that a host waits for: an authority would refuse names under a domain that does not lead here. The
   * dashboard's host and custom domains have DNS records of their own and are looked up themselves.
   */
  waitsFor({ domain }: Pick<RoutedHost, 'domain'>): string | null {
    return domain !== null && this.#waiting.has(domain) ? domain : null
  }
}
