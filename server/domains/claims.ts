import { useContext, useDatabase } from '../context.ts'
import { findEnvironment, listEnvironments, PRODUCTION, type Environment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { Name } from '../schema.ts'
import { hostsOf, placeOf } from '../services/hosts.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import type { ServiceRow } from '../services/store.ts'
import { getDomainByName, isServed, listDomains } from './store.ts'

/** A host must never have two owners: each function here throws `conflict` for a change that would give it a second one. */

/** A service as it will be after the change. */
export type NamedService = Pick<ServiceRow, 'id' | 'type' | 'name' | 'environment_id'>

/** Refuses a service whose hosts would include the dashboard's host or another service's custom domain. */
export function assertServiceHostsFree(
  { type, name }: Pick<ServiceRow, 'type' | 'name'>,
  environment: Pick<Environment, 'name'>,
): void {
  const domains = listDomains().map((domain) => domain.name)
  for (const host of hostsOf({ type, name }, environment, domains)) {
    if (host === useContext().options.dashboardHost)
      throw new AppError('conflict', `name: ${host} is the dashboard's host`)
    const holder = customHolder(host)
    if (holder) throw new AppError('conflict', `name: ${host} is a custom domain of service ${holder.label}`)
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
 * Refuses a custom domain that another service or the dashboard has, or that lies under a served domain, where it could be
 * the host of a service. Under a domain that is not served yet, only existing services count: the custom domain takes
 * precedence over later ones.
 */
export function assertCustomDomainFree(host: string, service: NamedService, field: string): void {
  const fault = (what: string) => new AppError('conflict', `${field}: ${host} ${what}`)
  if (host === useContext().options.dashboardHost) throw fault("is the dashboard's host")
  const holder = customHolder(host)
  if (holder && holder.id !== service.id) throw fault(`is in use by service ${holder.label}`)
  // A service keeps the domain that it has, even if a domain above it was connected since.
  if (holder) return
  for (const domain of listDomains()) {
    if (!couldBeUnder(host, domain.name)) continue
    if (isServed(domain))
      throw fault(`is under the domain ${domain.name}, where services get hosts from their own names`)
    const own = hostsOf(service, findEnvironment(service.environment_id), [domain.name])
    const named = own.includes(host) ? service.name : serviceNamedBy(host, domain.name)
    if (named !== null) throw fault(`will be the host of service ${named} once ${domain.name} is verified`)
  }
}

/** Refuses a domain that gives an existing service the dashboard's host or a custom domain of a service. */
function assertNamedHostsFree(domain: string): void {
  const { dashboardHost } = useContext().options
  const owned = customDomains().map(({ host, label }) => ({
    host,
    label: `a custom domain of service ${label}`,
  }))
  if (dashboardHost !== null) owned.push({ host: dashboardHost, label: "the dashboard's host" })
  for (const { host, label } of owned) {
    const named = couldBeUnder(host, domain) ? serviceNamedBy(host, domain) : null
    if (named !== null)
      throw new AppError(
        'conflict',
        `name: under ${domain}, service ${named} would get the host ${host}, which is ${label}`,
      )
  }
}

/** The qualified name of the service that gets a host under a domain from its own name; null when there is none. */
function serviceNamedBy(host: string, domain: string): string | null {
  const [name, environment = PRODUCTION] = host.slice(0, -domain.length - 1).split('.')
  const found = useDatabase().get(
    `SELECT 1 FROM services JOIN environments ON environments.id = environment_id
     WHERE services.name = ? AND environments.name = ? AND type IN ('web_service', 'static_site')`,
    name!,
    environment,
  )
  return found === undefined ? null : qualifiedName(name!, { name: environment })
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

interface CustomDomain {
  host: string
  /** The id of the service. */
  id: string
  label: string
}

function customHolder(host: string): CustomDomain | undefined {
  return customDomains(host)[0]
}

/** The custom domains of all services, or only the given one, with their services. */
function customDomains(host: string | null = null): CustomDomain[] {
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
