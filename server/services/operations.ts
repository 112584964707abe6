import { announceDeploy, announceService } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import { cancelDeploysOf, queueSourceDeploy } from '../deploys/operations.ts'
import { assertCustomDomainFree, assertServiceHostsFree, type NamedService } from '../domains/claims.ts'
import { findEnvGroup, insertLinks, writeLinks } from '../env-groups/store.ts'
import { findEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { splitCredentials } from '../git/url.ts'
import { hiddenFault } from '../text/redaction.ts'
import { cancelJobsOf, announceJob } from '../jobs/operations.ts'
import { ID_PATTERN, isId, newId, randomHex } from '../ids.ts'
import { assertNameFree } from '../environments/names.ts'
import { settleEnvironment } from '../variables/environment.ts'
import { assertUnreferenced } from '../variables/referrers.ts'
import { assertSize } from '../variables/rules.ts'
import { forgetReferences, insertVariables, writeVariables } from '../variables/store.ts'
import { customDomainsOf } from './hosts.ts'
import { normalMountPath } from './rules.ts'
import type { ServiceInput, ServicePatch } from './input.ts'
import { assertSettings } from './settings.ts'
import { shownUrl } from './view.ts'
import {
  getService,
  getServiceByName,
  insertService,
  updateService,
  type ServiceColumns,
  type ServiceRow,
} from './store.ts'

/** Bytes of a deploy hook key: 40 hex characters. */
const HOOK_KEY_BYTES = 20

/** The service with this id or name. With an id, `environment` must be the service's if it is given. Throws `not_found`. */
export function findService(idOrName: string, environmentRef?: string): ServiceRow {
  const environment = findEnvironment(environmentRef)
  const found = ID_PATTERN.test(idOrName)
    ? isId('service', idOrName) && getService(idOrName)
    : getServiceByName(environment.id, idOrName)
  const elsewhere = found && environmentRef !== undefined && found.environment_id !== environment.id
  if (!found || elsewhere)
    throw new AppError('not_found', `there is no service ${idOrName} in ${environment.name}`)
  return found
}

/** Creates a service and queues its first deploy when it has a source. Saves nothing when a rule is broken. */
export function createService(input: ServiceInput): ServiceRow {
  const { name, type, environment: place, env = [], env_groups = [], deploy, ...given } = input
  assertSize(env, 'env')
  const settings = { runtime: 'auto' as const, instances: 1, auto_deploy: 1, ...toColumns(given) }
  assertSettings(settings, type)
  const environment = findEnvironment(place)
  const groups = env_groups.map((group) => findEnvGroup(group).id)
  const id = newId('service')
  const now = Date.now()
  const row: { id: string } & ServiceColumns = {
    id,
    environment_id: environment.id,
    name,
    type,
    deploy_hook_key: randomHex(HOOK_KEY_BYTES),
    created_at: now,
    updated_at: now,
    settings_updated_at: now,
    ...settings,
  }
  const created = useDatabase().transaction(() => {
    assertServiceHostsFree({ type, name }, environment)
    assertOwnHostsFree({ id, type, name, environment_id: environment.id }, given.custom_domains)
    assertNameFree(environment.id, name)
    insertService(row)
    insertVariables(id, env)
    insertLinks(id, groups)
    settleEnvironment(id, { own: 'env', groups: 'env_groups' })
    return getService(id)!
  })
  announceService(id, 'created')
  if (!deploy || (created.repo_url === null && created.image === null)) return created
  queueSourceDeploy(created, 'create')
  return getService(id)!
}

/** Changes settings, variables, links to env groups, the number of instances, or whether it is suspended. */
export function patchService(service: ServiceRow, patch: ServicePatch): ServiceRow {
  const { suspended, name, env, env_groups, ...settings } = withoutShownUrl(service, patch)
  if (env !== undefined) assertSize(env, 'env')
  const columns = changesOf(service, {
    ...toColumns(settings),
    ...(name === undefined ? {} : { name }),
    ...(suspended === undefined ? {} : { suspended: suspended ? 1 : 0 }),
  })
  if (settings.canonical_domain === undefined && losesCanonical(service, columns))
    columns.canonical_domain = null
  const changed = { ...service, ...columns }
  assertSettings(changed, service.type)
  const groups = env_groups?.map((group) => findEnvGroup(group).id)
  assertNotDeleting(service)
  if (Object.keys(columns).length === 0 && env === undefined && groups === undefined) return service
  const announceCanceled = useDatabase().transaction(() => {
    if (changed.name !== service.name) {
      assertServiceHostsFree(changed, findEnvironment(service.environment_id))
      assertUnreferenced('service', service.environment_id, service.name, '')
      assertNameFree(service.environment_id, changed.name)
    }
    if (columns.custom_domains !== undefined) assertOwnHostsFree(changed, settings.custom_domains)
    updateService(service.id, columns)
    if (env !== undefined) writeVariables(service.id, env)
    if (groups !== undefined) writeLinks(service.id, groups)
    if (env !== undefined || groups !== undefined) {
      settleEnvironment(service.id, {
        ...(env ? { own: 'env' } : {}),
        groups: groups ? 'env_groups' : 'env',
      })
    }
    const isSuspending = suspended === true && !service.suspended
    return isSuspending ? cancelWorkOf(service.id, 'the service was suspended') : () => {}
  })
  announceCanceled()
  announceService(service.id)
  return getService(service.id)!
}

/** The columns whose value differs from the row. A sealed value always counts as different. */
function changesOf(row: ServiceRow, columns: ServiceColumns): ServiceColumns {
  const entries = Object.entries(columns) as [keyof ServiceColumns, unknown][]
  return Object.fromEntries(entries.filter(([column, value]) => row[column] !== value))
}

/** Sets how many instances run. */
export function scaleService(service: ServiceRow, instances: number): ServiceRow {
  if (service.type === 'cron_job')
    throw new AppError('invalid_request', 'instances: a cron job cannot be scaled')
  return patchService(service, { instances })
}

/** Stops a service's containers and keeps everything else. Does nothing when it is suspended already. */
export function suspendService(service: ServiceRow): ServiceRow {
  assertNotDeleting(service)
  return service.suspended ? service : patchService(service, { suspended: true })
}

/** Starts the live deploy's containers again. Does nothing when it is not suspended. */
export function resumeService(service: ServiceRow): ServiceRow {
  assertNotDeleting(service)
  return service.suspended ? patchService(service, { suspended: false }) : service
}

/** Gives the deploy hook a new key. The old URL stops working. */
export function rotateDeployHook(service: ServiceRow): ServiceRow {
  assertNotDeleting(service)
  updateService(service.id, { deploy_hook_key: randomHex(HOOK_KEY_BYTES) })
  announceService(service.id)
  return getService(service.id)!
}

/**
 * Marks a service for removal and cancels its running work. The daemon then removes its containers and the record. Throws
 * `conflict` while variables refer to it, unless `force` is given.
 */
export function deleteService(service: ServiceRow, force: boolean): void {
  const announceCanceled = useDatabase().transaction(() => {
    if (!force && !service.deleting)
      assertUnreferenced('service', service.environment_id, service.name, ', or repeat with force=true')
    updateService(service.id, { deleting: 1 })
    forgetReferences(service.id)
    return cancelWorkOf(service.id, 'the service was deleted')
  })
  announceCanceled()
  announceService(service.id)
}

/**
 * Cancels a service's waiting and running deploys and jobs. Returns a function that announces it, to call after the
 * transaction.
 */
function cancelWorkOf(serviceId: string, reason: string): () => void {
  const deploys = cancelDeploysOf(serviceId, reason)
  const jobs = cancelJobsOf(serviceId, reason)
  return () => {
    for (const id of deploys) announceDeploy(id, serviceId)
    for (const id of jobs) announceJob(id, serviceId)
  }
}

/** A client that sends back what it was shown does not mean to replace the credentials by `***`. */
function withoutShownUrl(service: ServiceRow, patch: ServicePatch): ServicePatch {
  const { repo_url, ...rest } = patch
  const isShown = service.repo_credentials !== null && repo_url === shownUrl(service.repo_url!, true)
  return isShown ? rest : patch
}

type Settings = Omit<ServicePatch, 'name' | 'suspended' | 'env' | 'env_groups'>

/**
 * The columns for these settings; an absent setting is left as it is. A repository's credentials are sealed apart from its
 * URL.
 */
function toColumns({
  repo_url,
  auto_deploy,
  compression,
  apt_packages,
  custom_domains,
  watch_paths,
  ...settings
}: Settings): ServiceColumns {
  const columns: ServiceColumns = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  )
  if (auto_deploy !== undefined) columns.auto_deploy = auto_deploy ? 1 : 0
  if (compression !== undefined) columns.compression = compression ? 1 : 0
  if (apt_packages !== undefined) columns.apt_packages = JSON.stringify([...new Set(apt_packages)])
  if (watch_paths !== undefined)
    columns.watch_paths = watch_paths === null ? null : JSON.stringify(watch_paths)
  if (custom_domains !== undefined) columns.custom_domains = JSON.stringify([...new Set(custom_domains)])
  if (typeof settings.disk_mount_path === 'string')
    columns.disk_mount_path = normalMountPath(settings.disk_mount_path)
  if (repo_url === null) Object.assign(columns, { repo_url: null, repo_credentials: null })
  if (typeof repo_url === 'string') {
    const fault = hiddenFault(repo_url)
    if (fault !== null) throw new AppError('invalid_request', `repo_url: ${fault}`)
    const { url, username, password } = splitCredentials(repo_url)
    const isOpen = username === null && password === null
    columns.repo_url = url
    columns.repo_credentials = isOpen ? null : useContext().vault.seal(repo_url)
  }
  return columns
}

/** Refuses custom domains that something else has or could have. The message has their index in the request. */
function assertOwnHostsFree(service: NamedService, hosts: string[] = []): void {
  for (const [index, host] of hosts.entries())
    assertCustomDomainFree(host, service, `custom_domains.${index}`)
}

/** Whether the change removes the custom domain that others redirect to. */
function losesCanonical({ canonical_domain }: ServiceRow, { custom_domains }: ServiceColumns): boolean {
  if (canonical_domain === null || custom_domains === undefined) return false
  return !customDomainsOf({ custom_domains }).includes(canonical_domain)
}

/** Refuses changes to a service that is being deleted. Throws `conflict`. */
export function assertNotDeleting(service: ServiceRow): void {
  if (service.deleting) throw new AppError('conflict', `service ${service.name} is being deleted`)
}
