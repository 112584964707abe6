import { callersReach } from '../access/caller.ts'
import { announceDiskBackups } from '../backups/owners.ts'
import { filledFrom } from '../backups/store.ts'
import { announceDeploy, announceService } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import { cancelDeploysOf, queueSourceDeploy } from '../deploys/operations.ts'
import { disksOf, wantedDisks } from '../disks/list.ts'
import { edgeColumns } from '../edge/columns.ts'
import { PasswordHashes } from '../edge/passwords.ts'
import { assertCustomDomainFree, assertServiceHostsFree, type NamedService } from '../domains/claims.ts'
import { findEnvGroup, insertLinks, writeLinks } from '../env-groups/store.ts'
import { PRODUCTION } from '../environments/production.ts'
import { findEnvironment, loadEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { findRegistryCredential } from '../registry-credentials/store.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { settleFiles } from '../secret-files/effective.ts'
import { splitCredentials } from '../git/url.ts'
import { hiddenFault } from '../text/redaction.ts'
import { cancelJobsOf, announceJob } from '../jobs/operations.ts'
import { ID_PATTERN, isId, newId, randomHex } from '../ids.ts'
import { nodeColumn } from '../nodes/data-node.ts'
import { placementColumn, placementOf } from '../nodes/placement-setting.ts'
import { assertNameFree } from '../environments/names.ts'
import { settleEnvironment } from '../variables/environment.ts'
import { recordServiceEvent } from '../service-events/store.ts'
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
  const isById = ID_PATTERN.test(idOrName)
  // An id says where it is, and not every caller reaches production.
  const environment = isById && environmentRef === undefined ? null : findEnvironment(environmentRef)
  const found = isById
    ? isId('service', idOrName) && getService(idOrName)
    : getServiceByName(environment!.id, idOrName)
  const reach = callersReach()
  const elsewhere = found && environment && found.environment_id !== environment.id
  if (!found || elsewhere || (reach && !reach.service(found.id)))
    throw new AppError('not_found', `there is no service ${idOrName} in ${environment?.name ?? PRODUCTION}`)
  return found
}

/**
 * Creates a service and queues its first deploy when it has a source. Saves nothing when a rule is broken. `hashes` has those of
 * the passwords in the input.
 */
export function createService(input: ServiceInput, hashes = new PasswordHashes()): ServiceRow {
  const { name, type, environment: place, env = [], env_groups = [], deploy, ...rest } = input
  const { registry_credential, node, ...given } = rest
  assertSize(env, 'env')
  const settings = {
    runtime: 'auto' as const,
    instances: 1,
    auto_deploy: 1,
    ...toColumns(given, null, hashes),
  }
  assertSettings(ruled(settings, given), type)
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
    disk_backup_seen_at: now,
    ...settings,
    ...credentialColumn(registry_credential),
    ...nodeColumn(node, settings, null),
  }
  const created = useDatabase().transaction(() => {
    assertServiceHostsFree({ type, name }, environment)
    assertOwnHostsFree({ id, type, name, environment_id: environment.id }, given.custom_domains)
    assertNameFree(environment.id, name)
    insertService(row)
    recordServiceEvent(id, 'service.created')
    insertVariables(id, env)
    insertLinks(id, groups)
    settleEnvironment(id, { own: 'env', groups: 'env_groups' })
    settleFiles(id, 'env_groups')
    return getService(id)!
  })
  announceService(id, 'created')
  announceDiskBackups()
  if (!deploy || (created.repo_url === null && created.image === null)) return created
  queueSourceDeploy(created, 'create')
  return getService(id)!
}

/**
 * Changes settings, variables, links to env groups, the number of instances, or whether it is suspended. `hashes` has those of
 * the passwords in the patch.
 */
export function patchService(
  service: ServiceRow,
  patch: ServicePatch,
  hashes = new PasswordHashes(),
): ServiceRow {
  const { suspended, name, env, env_groups, registry_credential, node, ...settings } = withoutShownUrl(
    service,
    patch,
  )
  if (env !== undefined) assertSize(env, 'env')
  const columns = changesOf(service, {
    ...toColumns(settings, service, hashes),
    ...(name === undefined ? {} : { name }),
    ...(suspended === undefined ? {} : { suspended: suspended ? 1 : 0 }),
  })
  if (settings.canonical_domain === undefined && losesCanonical(service, columns))
    columns.canonical_domain = null
  if (columns.disk_backup_schedule !== undefined) columns.disk_backup_seen_at = Date.now()
  const changed = { ...service, ...columns }
  assertSettings(ruled(changed, settings), service.type)
  Object.assign(columns, changesOf(service, credentialColumn(registry_credential)))
  Object.assign(columns, changesOf(service, nodeColumn(node, changed, service)))
  const groups = env_groups?.map((group) => findEnvGroup(group).id)
  assertNotDeleting(service)
  if (Object.keys(columns).length === 0 && env === undefined && groups === undefined) return service
  const announceCanceled = useDatabase().transaction(() => {
    if (changed.name !== service.name) {
      assertServiceHostsFree(changed, loadEnvironment(service.environment_id))
      assertUnreferenced('service', service.environment_id, service.name, '')
      assertNameFree(service.environment_id, changed.name)
    }
    if (columns.custom_domains !== undefined) assertOwnHostsFree(changed, settings.custom_domains)
    updateService(service.id, columns, typeof node === 'string' ? [] : ['node_id'])
    if (env !== undefined) writeVariables(service.id, env)
    if (groups !== undefined) writeLinks(service.id, groups)
    if (env !== undefined || groups !== undefined) {
      settleEnvironment(service.id, {
        ...(env ? { own: 'env' } : {}),
        groups: groups ? 'env_groups' : 'env',
      })
    }
    if (groups !== undefined) settleFiles(service.id, 'env_groups')
    else if (columns.disks !== undefined)
      settleFiles(service.id, settings.disks === undefined ? 'disk_mount_path' : 'disks')
    const isSuspending = suspended === true && !service.suspended
    return isSuspending ? cancelWorkOf(service.id, 'the service was suspended') : () => {}
  })
  announceCanceled()
  announceService(service.id)
  if ('disk_backup_schedule' in columns || 'disk_backup_retention' in columns) announceDiskBackups()
  return getService(service.id)!
}

/**
 * Columns as the rules between settings judge them: they name `disk_mount_path` where a request gives that alone, and
 * `disks` otherwise.
 */
function ruled(columns: ServiceColumns, { disks, disk_mount_path }: Settings): ServiceColumns {
  return { ...columns, disk_mount_path: disks === undefined ? (disk_mount_path ?? null) : null }
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
  assertUnfenced()
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
 * `conflict` while variables refer to it or another disk is restored from its backups, unless `force` is given.
 */
export function deleteService(service: ServiceRow, force: boolean): void {
  assertUnfenced()
  const announceCanceled = useDatabase().transaction(() => {
    if (!force && !service.deleting) {
      assertUnreferenced('service', service.environment_id, service.name, ', or repeat with force=true')
      assertNotRestored(service)
    }
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

/** The column for a registry credential that is named by its id or name. Throws `not_found`. */
function credentialColumn(idOrName: string | null | undefined): ServiceColumns {
  if (idOrName === undefined) return {}
  return { registry_credential_id: idOrName === null ? null : findRegistryCredential(idOrName).id }
}

type Settings = Omit<
  ServicePatch,
  'name' | 'suspended' | 'env' | 'env_groups' | 'registry_credential' | 'node'
>

/**
 * The columns for these settings; an absent setting is left as it is. A repository's credentials are sealed apart from its
 * URL, and of passwords only their hashes are kept.
 */
function toColumns(given: Settings, service: ServiceRow | null, hashes: PasswordHashes): ServiceColumns {
  const {
    repo_url,
    auto_deploy,
    compression,
    apt_packages,
    custom_domains,
    watch_paths,
    disks,
    disk_mount_path,
    placement,
    ...settings
  } = given
  const columns = {
    ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    ...edgeColumns(settings, service?.basic_auth ?? null, hashes),
  } as ServiceColumns
  if (auto_deploy !== undefined) columns.auto_deploy = auto_deploy ? 1 : 0
  if (compression !== undefined) columns.compression = compression ? 1 : 0
  if (apt_packages !== undefined) columns.apt_packages = JSON.stringify([...new Set(apt_packages)])
  if (watch_paths !== undefined)
    columns.watch_paths = watch_paths === null ? null : JSON.stringify(watch_paths)
  if (placement !== undefined) columns.placement = placementColumn(placement, service && placementOf(service))
  if (custom_domains !== undefined) columns.custom_domains = JSON.stringify([...new Set(custom_domains)])
  const path = typeof disk_mount_path === 'string' ? normalMountPath(disk_mount_path) : disk_mount_path
  const wanted = wantedDisks({ disks, disk_mount_path: path }, service ? disksOf(service) : [])
  if (wanted !== undefined) columns.disks = JSON.stringify(wanted)
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

/** Throws `conflict` if the disk of another service is being restored from a backup that the deletion would remove. */
function assertNotRestored({ id, name }: ServiceRow): void {
  const filled = filledFrom(id)
  if (filled === undefined) return
  const reach = callersReach()
  const target = reach && !reach.service(filled.id) ? 'another service' : `service ${filled.name}`
  throw new AppError(
    'conflict',
    `the disk of ${target} is being restored from a backup of ${name}, which would be deleted too: wait until it has finished, or repeat with force=true`,
  )
}

/** Refuses changes to a service that is being deleted. Throws `conflict`. */
export function assertNotDeleting(service: ServiceRow): void {
  if (service.deleting) throw new AppError('conflict', `service ${service.name} is being deleted`)
}
