import { callersReach } from '../access/caller.ts'
import { useContext, useDatabase } from '../context.ts'
import { PRODUCTION } from '../environments/production.ts'
import { listEnvironments, loadEnvironment, type Environment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { isId } from '../ids.ts'
import { getRedirectHostByName, listRedirectHosts } from '../redirect-hosts/store.ts'
import { Name } from '../schema.ts'
import { hostsOf, placeOf } from '../services/hosts.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import type { ServiceRow } from '../services/store.ts'
import { getDomainByName, isServed, listDomains } from './store.ts'

/** A host must never have two owners: each function here throws `conflict` for a change that would give it a second one. */

/** A service as it will be after the change. */
export type NamedService = Pick<ServiceRow, 'id' | 'type' | 'name' | 'environment_id'>

/** Refuses a service whose hosts would include the dashboard's host, a redirect host or another service's custom domain. */
export function assertServiceHostsFree(
  { type, name }: Pick<ServiceRow, 'type' | 'name'>,
  environment: Pick<Environment, 'name'>,
): void {
  const domains = listDomains().map((domain) => domain.name)
  for (const host of hostsOf({ type, name }, environment, domains)) {
    if (host === useContext().options.dashboardHost)
      throw new AppError('conflict', `name: ${host} is the dashboard's host`)
    const holder = ownerOf(host)
    if (holder) throw new AppError('conflict', `name: ${host} is ${described(holder)}`)
  }
}

/** Refuses an environment whose services' hosts would collide with a domain or with the dashboard's host. */
export function assertEnvironmentHostsFree(name: string): void {
  for (const domain of listDomains()) {
    const place = placeOf({ name }, domain.name)
    if (getDomainByName(place))
      throw new AppError(
        'conflict',
        `name: services of this environment would have hosts under ${place}, which is already connected as a domain: remove that domain, or choose another name`,
      )
    assertNotAboveDashboard(place, 'name')
  }
}

/** Refuses a domain under which a service would get a host that is already taken. */
export function assertDomainHostsFree(name: string): void {
  const known = getDomainByName(name)
  if (known) throw new AppError('conflict', `name: ${name} is already a domain (${known.id})`)
  for (const environment of listEnvironments()) {
    if (environment.name === PRODUCTION) continue
    const place = placeOf(environment, name)
    if (getDomainByName(place))
      throw new AppError(
        'conflict',
        `name: services of environment ${environment.name} would have hosts under ${place}, which is already connected as a domain: remove that domain, or choose another name`,
      )
    for (const domain of listDomains()) {
      if (placeOf(environment, domain.name) === name)
        throw new AppError(
          'conflict',
          `name: services of environment ${environment.name} have their hosts under ${name}`,
        )
    }
    assertNotAboveDashboard(place, 'name')
  }
  assertNamedHostsFree(name)
}

/**
 * Refuses a custom domain that another service, a redirect host or the dashboard has, or that lies under a served domain,
 * where it could be the host of a service. Under a domain that is not served yet, only existing services count: the custom
 * domain takes precedence over later ones.
 */
export function assertCustomDomainFree(host: string, service: NamedService, field: string): void {
  assertHostFree(host, service.id, field, (domain) => {
    const own = hostsOf(service, loadEnvironment(service.environment_id), [domain])
    return own.includes(host) ? `service ${service.name}` : null
  })
}

/** Refuses a redirect host in the same cases. `id` is its own. */
export function assertRedirectHostFree(host: string, id: string): void {
  assertHostFree(host, id, 'host', () => null)
}

/** `ownNamed` says whether the owner itself would get the host under a domain from its name. */
function assertHostFree(
  host: string,
  ownerId: string,
  field: string,
  ownNamed: (domain: string) => string | null,
): void {
  const fault = (what: string) => new AppError('conflict', `${field}: ${host} ${what}`)
  if (host === useContext().options.dashboardHost) throw fault("is the dashboard's host")
  const holder = ownerOf(host)
  if (holder && holder.id !== ownerId) throw fault(`is in use by ${shown(holder)}`)
  // An owner keeps the host that it has, even if a domain above it was connected since.
  if (holder) return
  for (const domain of listDomains()) {
    if (!couldBeUnder(host, domain.name)) continue
    if (isServed(domain))
      throw fault(`is under the domain ${domain.name}, where services get hosts from their own names`)
    const named = serviceNamedBy(host, domain.name)
    const holder = ownNamed(domain.name) ?? (named && shown(named))
    if (holder !== null) throw fault(`will be the host of ${holder} once ${domain.name} is verified`)
  }
}

/** Refuses a domain that gives an existing service the dashboard's host, a redirect host or a custom domain of a service. */
function assertNamedHostsFree(domain: string): void {
  const { dashboardHost } = useContext().options
  const owned = ownedHosts().map((owned) => ({ host: owned.host, what: described(owned) }))
  if (dashboardHost !== null) owned.push({ host: dashboardHost, what: "the dashboard's host" })
  for (const { host, what } of owned) {
    const named = couldBeUnder(host, domain) ? serviceNamedBy(host, domain) : null
    if (named !== null)
      throw new AppError(
        'conflict',
        `name: under ${domain}, ${shown(named)} would get the host ${host}, which is ${what}`,
      )
  }
}

/** The service that gets a host under a domain from its own name; null when there is none. */
function serviceNamedBy(host: string, domain: string): Named | null {
  const [name, environment = PRODUCTION] = host.slice(0, -domain.length - 1).split('.')
  const found = useDatabase().get<{ id: string }>(
    `SELECT services.id FROM services JOIN environments ON environments.id = environment_id
     WHERE services.name = ? AND environments.name = ? AND type IN ('web_service', 'static_site')`,
    name!,
    environment,
  )
  return found ? { id: found.id, label: qualifiedName(name!, { name: environment }) } : null
}

function assertNotAboveDashboard(place: string, field: string): void {
  const { dashboardHost } = useContext().options
  if (dashboardHost !== null && dashboardHost.slice(dashboardHost.indexOf('.') + 1) === place)
    throw new AppError(
      'conflict',
      `${field}: services would have hosts under ${place}, where the dashboard's host ${dashboardHost} is`,
    )
}

/** Whether a service could get a host under a domain from its name: one label in production, two elsewhere. */
function couldBeUnder(host: string, domain: string): boolean {
  if (!host.endsWith(`.${domain}`)) return false
  const labels = host.slice(0, -domain.length - 1).split('.')
  return labels.length <= 2 && labels.every((label) => Name.safeParse(label).success)
}

/** A service or a redirect host as messages have it. */
interface Named {
  id: string
  label: string
}

/** How a message calls what has a host: a service by its name, unless the caller may not know it. */
function shown({ id, label }: Named): string {
  const reach = callersReach()
  if (isId('redirectHost', id)) return 'a redirect host'
  return reach && !reach.service(id) ? 'another service' : `service ${label}`
}

/** A custom domain and its service, or a redirect host. */
interface OwnedHost extends Named {
  host: string
}

function described(owned: OwnedHost): string {
  return isId('redirectHost', owned.id) ? 'a redirect host' : `a custom domain of ${shown(owned)}`
}

function ownerOf(host: string): OwnedHost | undefined {
  return ownedHosts(host)[0]
}

/** The custom domains of all services and the redirect hosts, or only the one with this name. */
function ownedHosts(host: string | null = null): OwnedHost[] {
  const redirects = host === null ? listRedirectHosts() : [getRedirectHostByName(host) ?? []].flat()
  return [...customDomains(host), ...redirects.map(({ id, host }) => ({ id, host, label: host }))]
}

/** The custom domains of all services, or only the given one, with their services. */
function customDomains(host: string | null): OwnedHost[] {
  return useDatabase()
    .all<{ host: string; id: string; name: string; environment: string }>(
      `SELECT custom.value AS host, services.id, services.name, environments.name AS environment
       FROM services JOIN environments ON environments.id = environment_id, json_each(custom_domains) AS custom
       WHERE custom_domains <> '[]' AND (?1 IS NULL OR custom.value = ?1)`,
      host,
    )
    .map(({ host, id, name, environment }) => ({
      host,
      id,
      label: qualifiedName(name, { name: environment }),
    }))
}
