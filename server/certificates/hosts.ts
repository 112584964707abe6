import { tell, tellService } from '../changes.ts'
import { useContext } from '../context.ts'
import { isLocalName } from '../domains/names.ts'
import { isServed, listDomains, servedDomains } from '../domains/store.ts'
import { listEnvironments } from '../environments/store.ts'
import { customDomainsOf, hostsOf, placeOf } from '../services/hosts.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { listServices } from '../services/store.ts'
import { listUploaded, type UploadedRow } from './store.ts'

/** A hostname that the data plane routes; `service` is its qualified name, null for the dashboard. */
export interface RoutedHost {
  host: string
  service: string | null
  serviceId: string | null
  /** The server's domain that it is under by the service's name; null for the dashboard and for custom domains. */
  domain: string | null
}

/** Every hostname that is routed: the dashboard's first, then those of services by environment and name. */
export function routedHosts(): RoutedHost[] {
  const { dashboardHost } = useContext().options
  const domains = servedDomains()
  const hosts: RoutedHost[] =
    dashboardHost === null ? [] : [{ host: dashboardHost, service: null, serviceId: null, domain: null }]
  for (const environment of listEnvironments()) {
    for (const service of listServices(environment.id)) {
      if (service.deleting) continue
      const of = { service: qualifiedName(service.name, environment), serviceId: service.id }
      for (const domain of domains)
        for (const host of hostsOf(service, environment, [domain])) hosts.push({ host, ...of, domain })
      for (const host of customDomainsOf(service)) hosts.push({ host, ...of, domain: null })
    }
  }
  return hosts
}

/** Tells of certificates, which have no kind of their own in the change feed, as changes of what is served at these hosts. */
export function tellCertified(hosts: readonly RoutedHost[]): void {
  for (const id of new Set(hosts.map(({ serviceId }) => serviceId))) {
    if (id !== null) tellService(id)
    else tell({ kind: 'domain', id: listDomains()[0]!.id, service_id: null, action: 'updated' })
  }
}

/** Whether certificates are sought: TLS is on, and some host is not local. */
export function seeksCertificates(): boolean {
  if (useContext().options.tls === 'off') return false
  return (
    servedDomains().some((name) => !isLocalName(name)) || routedHosts().some(({ host }) => !isLocalName(host))
  )
}

/** The uploaded certificates by what they are for; the newest wins, one that has ended counts for nothing. */
export class UploadedBook {
  readonly #byName = new Map<string, UploadedRow>()

  constructor(now: number = Date.now()) {
    for (const row of listUploaded().toReversed()) {
      if (row.not_after <= now) continue
      for (const name of JSON.parse(row.hosts) as string[]) this.#byName.set(name, row)
    }
  }

  /** The one for a host: by its name, else by the wildcard one label above. */
  find(host: string): UploadedRow | undefined {
    return this.#byName.get(host) ?? this.#byName.get(`*${host.slice(host.indexOf('.'))}`)
  }
}

/** What authorities are asked to certify: the name, and the hosts that need it. */
export class CertificateNames {
  /** The domains of places whose hosts have one wildcard together, when the server can prove that. */
  readonly #places: Map<string, string>
  /** Served domains whose names do not reach the server yet: the base domain is served from the start. */
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

  /** The name of the certificate that covers a host; one with records of its own does not wait for a wildcard. */
  nameOf({ host, domain }: Pick<RoutedHost, 'host' | 'domain'>): string {
    const parent = host.slice(host.indexOf('.') + 1)
    const place = this.#places.get(parent)
    const isCovered = place !== undefined && (domain !== null || !this.#waiting.has(place))
    return isCovered ? `*.${parent}` : host
  }

  /**
   * The domain that a host waits for: there is no use in asking for what is named under one that does not lead here. The
   * dashboard's host and custom domains have records of their own, and are looked up themselves.
   */
  waitsFor({ domain }: Pick<RoutedHost, 'domain'>): string | null {
    return domain !== null && this.#waiting.has(domain) ? domain : null
  }
}
