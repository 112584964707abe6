import { spareVolumesOf } from '../backups/spare-volumes.ts'
import { timestamp } from '../clock.ts'
import { useContext } from '../context.ts'
import { loadEnvironment, type Environment } from '../environments/store.ts'
import { getMove } from '../moves/store.ts'
import { viewMove } from '../moves/view.ts'
import { nodeName } from '../nodes/store.ts'
import { authorityCertificate } from './authority.ts'
import { diskBytesOf } from './disk-use.ts'
import { KINDS, type Place } from './kinds.ts'
import type { Datastore } from './schema.ts'
import { listDatastores, type DatastoreRow } from './store.ts'

/** Where the containers of datastores are published. */
export const LOOPBACK = '127.0.0.1'

/** Every datastore of an environment as the API returns it, by name. */
export function viewDatastores(environment: Environment): Datastore[] {
  return listDatastores(environment.id).map((row) => view(row, environment))
}

/** One datastore as the API returns it. */
export function viewDatastore(row: DatastoreRow): Datastore {
  return view(row, loadEnvironment(row.environment_id))
}

/** Where containers of its environment reach it, with credentials. */
export function internalPlace(row: DatastoreRow): Place {
  return { ...credentials(row), host: row.name, port: KINDS[row.kind].port }
}

/** Where programs on the host reach it, with credentials; null until it has a port there. */
export function externalPlace(row: DatastoreRow): Place | null {
  return row.host_port === null ? null : { ...credentials(row), host: LOOPBACK, port: row.host_port }
}

function credentials({ database, username, password }: DatastoreRow): Omit<Place, 'host' | 'port'> {
  return { database, username, password: useContext().vault.open(password) }
}

function view(row: DatastoreRow, environment: Environment): Datastore {
  const kind = KINDS[row.kind]
  const internal = internalPlace(row)
  const external = externalPlace(row)
  const externalUrl = external && kind.url(external)
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    version: row.version,
    environment: environment.name,
    node: row.node_id,
    node_name: nodeName(row.node_id),
    status: row.status,
    error: row.error,
    database: row.database,
    username: row.username,
    password: internal.password,
    host_port: row.host_port,
    internal_host: internal.host,
    internal_port: internal.port,
    internal_url: kind.url(internal),
    external_url: externalUrl,
    connect_command: externalUrl && kind.connectCommand(externalUrl),
    internal_tls_port: row.host_tls_port && kind.tlsPort,
    host_tls_port: row.host_tls_port,
    ca_certificate: row.host_tls_port === null ? null : authorityCertificate(),
    disk_bytes: diskBytesOf(row.id),
    memory_limit_mb: row.memory_limit_mb,
    cpu_limit: row.cpu_limit,
    backup_schedule: row.backup_schedule,
    backup_retention: row.backup_retention,
    kept_volumes: keptVolumes(row),
    move: viewMove(getMove(row.id)),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

/** The replaced volumes that can still be used again, newest first. */
function keptVolumes({ id }: DatastoreRow): Datastore['kept_volumes'] {
  return spareVolumesOf(id)
    .filter(({ remove_at }) => remove_at > Date.now())
    .toSorted((left, right) => right.remove_at - left.remove_at)
    .map(({ volume, version, remove_at }) => ({ volume, version, kept_until: timestamp(remove_at) }))
}
