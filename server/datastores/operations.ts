import { callersReach } from '../access/caller.ts'
import { filledFrom } from '../backups/store.ts'
import { announceDatastore } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import { assertNameFree } from '../environments/names.ts'
import { PRODUCTION } from '../environments/production.ts'
import { findEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { ID_PATTERN, isId, newId, randomHex } from '../ids.ts'
import { nodeForData } from '../nodes/data-node.ts'
import { move } from '../state-machine.ts'
import { referenceFault } from '../variables/referrers.ts'
import { KINDS } from './kinds.ts'
import { postgresName } from './postgres-names.ts'
import type { DatastoreInput, DatastorePatch } from './schema.ts'
import { datastoreMachine } from './states.ts'
import {
  getDatastore,
  getDatastoreByName,
  insertDatastore,
  setDatastore,
  type DatastoreRow,
  type DatastoreSettings,
  type NewDatastore,
} from './store.ts'

/** 192 bits; written in hex, so it needs no escaping in a URL. */
const PASSWORD_BYTES = 24
/** Distinguishes the volumes of a datastore when a later one replaces the first. */
const VOLUME_SUFFIX_BYTES = 4
const DEFAULT_BACKUPS_KEPT = 7
/** The name that key-value stores give the user of clients that name none (valkey.io, "ACL"). */
const KEY_VALUE_USER = 'default'

/** The datastore with this id or name. With an id, a given environment must be its own. Throws `not_found`. */
export function findDatastore(idOrName: string, environmentRef?: string): DatastoreRow {
  const isById = ID_PATTERN.test(idOrName)
  // An id says where it is, and not every caller reaches production.
  const environment = isById && environmentRef === undefined ? null : findEnvironment(environmentRef)
  const found = isById
    ? isId('datastore', idOrName) && getDatastore(idOrName)
    : getDatastoreByName(environment!.id, idOrName)
  const reach = callersReach()
  const elsewhere = found && environment && found.environment_id !== environment.id
  if (!found || elsewhere || (reach && !reach.datastore(found.id)))
    throw new AppError('not_found', `there is no datastore ${idOrName} in ${environment?.name ?? PRODUCTION}`)
  return found
}

/** Records a datastore that the daemon then creates. Throws `not_found` or `conflict`. */
export function createDatastore(input: DatastoreInput): DatastoreRow {
  assertUnfenced()
  const { kind, name, version } = input
  const environment = findEnvironment(input.environment)
  const [repository, defaultVersion] = imageOf(kind)
  const row = recordNew({
    environment_id: environment.id,
    node_id: nodeForData(input.node).id,
    name,
    kind,
    repository,
    version: version ?? defaultVersion,
    status: 'creating',
    ...ownerOf(input),
    memory_limit_mb: input.memory_limit_mb ?? 0,
    cpu_limit: input.cpu_limit ?? 0,
    backup_schedule: input.backup_schedule ?? null,
    backup_retention: input.backup_retention ?? DEFAULT_BACKUPS_KEPT,
  })
  announceDatastore(row.id, 'created')
  return row
}

type Chosen = Omit<
  NewDatastore,
  'id' | 'password' | 'volume' | 'backup_seen_at' | 'created_at' | 'updated_at'
>

/** Records a datastore with a password and a volume of its own. Throws `conflict` when its name is in use. */
export function recordNew(chosen: Chosen): DatastoreRow {
  const id = newId('datastore')
  const now = Date.now()
  useDatabase().transaction(() => {
    assertNameFree(chosen.environment_id, chosen.name)
    insertDatastore({
      id,
      ...chosen,
      password: useContext().vault.seal(randomHex(PASSWORD_BYTES)),
      volume: newVolume(id),
      backup_seen_at: now,
      created_at: now,
      updated_at: now,
    })
  })
  return getDatastore(id)!
}

/** A new, unique name for a volume of a datastore. */
export function newVolume(datastoreId: string): string {
  return `${datastoreId}-${randomHex(VOLUME_SUFFIX_BYTES)}`
}

/**
 * Changes the limits, which the daemon applies to the running container, and when backups are made and how many are
 * kept. Throws `conflict` while the datastore is being deleted.
 */
export function patchDatastore(datastore: DatastoreRow, patch: DatastorePatch): DatastoreRow {
  if (datastore.status === 'deleting')
    throw new AppError('conflict', `datastore ${datastore.name} is being deleted`)
  const {
    memory_limit_mb = datastore.memory_limit_mb,
    cpu_limit = datastore.cpu_limit,
    backup_schedule = datastore.backup_schedule,
    backup_retention = datastore.backup_retention,
  } = patch
  // A new schedule starts now: earlier times of it are not due.
  const isScheduled = backup_schedule === datastore.backup_schedule
  const backup_seen_at = isScheduled ? datastore.backup_seen_at : Date.now()
  const settings = { memory_limit_mb, cpu_limit, backup_schedule, backup_retention, backup_seen_at }
  const isLimited = memory_limit_mb !== datastore.memory_limit_mb || cpu_limit !== datastore.cpu_limit
  const isSame = Object.entries(settings).every(
    ([column, value]) => datastore[column as keyof DatastoreSettings] === value,
  )
  if (isSame && datastore.apply_error === null) return datastore
  setDatastore(datastore.id, settings, isLimited || datastore.apply_error !== null)
  announceDatastore(datastore.id)
  return getDatastore(datastore.id)!
}

/**
 * Marks a datastore for removal; the daemon removes its container and its data, then the record. Throws `conflict` while
 * variables refer to it, it is being upgraded or another is being filled from a backup of it, unless forced.
 */
export function deleteDatastore(datastore: DatastoreRow, force: boolean): void {
  if (datastore.status === 'deleting') return
  assertUnfenced()
  useDatabase().transaction(() => {
    const obstacles = force ? [] : obstaclesTo(datastore)
    if (obstacles.length > 0)
      throw new AppError('conflict', `${obstacles.join('; ')}, or repeat with force=true`)
    move(datastoreMachine, datastore.id, 'deleting', {
      error: null,
      updated_at: Date.now(),
      generation: datastore.generation + 1,
    })
  })
  announceDatastore(datastore.id)
}

/** Everything that a deletion would break and what to do about each, so that users who force it have seen it all. */
function obstaclesTo({ id, environment_id, name, status }: DatastoreRow): string[] {
  const filled = filledFrom(id)
  return [
    referenceFault('datastore', environment_id, name),
    status === 'upgrading' ? `datastore ${name} is upgrading: wait until it has finished` : null,
    filled === undefined
      ? null
      : `datastore ${filled.name} is being filled from a backup of ${name}, which would be deleted too: wait until it has finished`,
  ].filter((fault) => fault !== null)
}

/** The repository and the tag of the image for new datastores of a kind. */
function imageOf(kind: DatastoreRow['kind']): [repository: string, tag: string] {
  const { relationalImage, keyvalueImage } = useContext().options
  const { repository, tag } = kind === 'relational' ? relationalImage : keyvalueImage
  return [repository, tag]
}

function ownerOf({ kind, name, database, username }: DatastoreInput): {
  database: string | null
  username: string
} {
  if (!KINDS[kind].hasDatabases) return { database: null, username: KEY_VALUE_USER }
  const fromName = postgresName(name)
  return { database: database ?? fromName, username: username ?? fromName }
}
