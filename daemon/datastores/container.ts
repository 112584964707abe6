import { useContext } from '#server/context.ts'
import { KINDS, type DatastoreKind } from '#server/datastores/kinds.ts'
import { getRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import type { ContainerSpec, ContainerState } from '../engine/index.ts'
import { CONFIG_FILE, TLS_SETTINGS } from './files.ts'
import { memorySettings } from './settings.ts'
import { CHECKPOINT_SECONDS } from './stop.ts'
import { TOOL_CPUS, TOOL_MEMORY_BYTES } from './tool.ts'

const MIB = 1024 * 1024
/** What is half filled is of no worth: an engine that ends does not wait for it. */
const FILLING_STOP_SECONDS = 10
/** Parallel queries share rows through /dev/shm, of which containers have 64 MiB (the postgres image's page, "Caveats"). */
const SHARED_MEMORY_SHARE = 4

/** Apart from where images keep data: theirs is another folder from major 18 on, and no data may hang on that. */
export const RELATIONAL_VOLUME = '/var/lib/deployer'
export const RELATIONAL_DATA = `${RELATIONAL_VOLUME}/data`
/** Where both Redis's and Valkey's images keep data. */
export const KEYVALUE_VOLUME = '/data'

/** Where a datastore's container is to be. */
interface Location {
  network: string
  address: string
  hostPort: number
  /** The one that leads to TLS; null where that is spoken at the same. */
  hostTlsPort: number | null
  imageId: string
}

/** The limits of a datastore's container: those asked for, else the server's defaults. */
export function containerLimits(row: DatastoreRow): { memoryBytes: number; cpus: number } {
  const { options } = useContext()
  return { memoryBytes: memoryMb(row) * MIB, cpus: row.cpu_limit || options.defaultCpus }
}

/** The one container of a datastore; its data is in the volume and outlives it. */
export function datastoreContainer(row: DatastoreRow, location: Location): ContainerSpec {
  const mode = modeOf(row)
  const { port, tlsPort } = KINDS[row.kind]
  const { hostPort, hostTlsPort } = location
  return {
    name: row.id,
    image: location.imageId,
    labels: { 'deployer.kind': 'datastore', 'deployer.datastore': row.id, [MODE_LABEL]: mode },
    ...programOf(row, mode),
    network: location.network,
    address: location.address,
    // For containers that the resolver of names does not answer.
    aliases: [row.name],
    ports: [
      { inside: port, host: hostPort },
      ...(hostTlsPort === null ? [] : [{ inside: tlsPort, host: hostTlsPort }]),
    ],
  }
}

/**
 * A container in which a volume is filled that is to become a datastore's; nothing but its name leads there. What loads a
 * backup runs in it too, for which it has more memory, and at least a processor.
 */
export function fillingContainer(
  row: DatastoreRow,
  volume: string,
  imageId: string,
): Omit<ContainerSpec, 'network' | 'labels'> {
  const program = programOf({ ...row, volume }, 'filling')
  return {
    ...program,
    name: volume,
    image: imageId,
    memoryBytes: program.memoryBytes + TOOL_MEMORY_BYTES,
    cpus: Math.max(program.cpus, TOOL_CPUS),
  }
}

/** Whether a datastore's container is in the mode that its record asks for; one that is not is made anew. */
export function isInMode(row: DatastoreRow, { labels }: ContainerState): boolean {
  return (labels[MODE_LABEL] ?? 'serving') === modeOf(row)
}

function modeOf(row: DatastoreRow): Mode {
  return getRestoreOrUpgrade(row.id)?.reads_only === 1 ? 'read-only' : 'serving'
}

/** `filling`: it loads what it is given, and nobody uses it yet. */
type Mode = 'serving' | 'read-only' | 'filling'
const MODE_LABEL = 'deployer.datastore.mode'

/** What a program is told in a mode, beyond the settings of always. */
const MODE_SETTINGS: Record<DatastoreKind, Record<Mode, Record<string, string>>> = {
  relational: {
    serving: {},
    // What it does by itself must not look like a write of a client, nor what workers of extensions and subscriptions do.
    'read-only': { default_transaction_read_only: 'on', autovacuum: 'off', max_worker_processes: '0' },
    filling: {},
  },
  keyvalue: {
    serving: { appendonly: 'yes' },
    // It has no replica, so that it takes no write.
    'read-only': { appendonly: 'yes', 'min-replicas-to-write': '1' },
    // With an append-only file it would not load a snapshot.
    filling: { appendonly: 'no' },
  },
}

/** The configuration file of a datastore's program. */
export function programConfig(row: DatastoreRow, hasTls: boolean, mode: Mode = modeOf(row)): string {
  const settings = { ...(hasTls ? TLS_SETTINGS[row.kind] : {}), ...FILE_SETTINGS[row.kind](row, mode) }
  return Object.entries(settings)
    .map(([key, value]) => `${key} ${value}\n`)
    .join('')
}

/** Its settings besides TLS. */
const FILE_SETTINGS: Record<DatastoreKind, (row: DatastoreRow, mode: Mode) => Record<string, string>> = {
  // What the image's file and ALTER SYSTEM say takes the place of this, as it would not of arguments.
  relational: () => ({
    shared_preload_libraries: "'pg_stat_statements'",
    include: `'${RELATIONAL_DATA}/postgresql.conf'`,
  }),
  // All of it, since arguments are seen by every user of the host.
  keyvalue: (row, mode) => ({
    dir: KEYVALUE_VOLUME,
    requirepass: internalPlace(row).password,
    // Nobody but a backup is a replica, and it waits for no other.
    'repl-diskless-sync-delay': '0',
    ...memorySettings(row.kind, memoryMb(row)),
    ...MODE_SETTINGS.keyvalue[mode],
  }),
}

function programOf(
  row: DatastoreRow,
  mode: Mode,
): Omit<ContainerSpec, 'name' | 'image' | 'labels' | 'network'> {
  const limits = containerLimits(row)
  const shared = {
    ...limits,
    shmBytes: Math.floor(limits.memoryBytes / SHARED_MEMORY_SHARE),
    ports: [{ inside: KINDS[row.kind].port }],
    stopSeconds: mode === 'filling' ? FILLING_STOP_SECONDS : CHECKPOINT_SECONDS,
  }
  if (row.kind === 'keyvalue') {
    return {
      ...shared,
      env: {},
      command: [CONFIG_FILE],
      volume: { name: row.volume, path: KEYVALUE_VOLUME },
    }
  }
  const { username, password, database } = internalPlace(row)
  const settings = { ...memorySettings(row.kind, memoryMb(row)), ...MODE_SETTINGS.relational[mode] }
  return {
    ...shared,
    env: {
      POSTGRES_USER: username,
      POSTGRES_PASSWORD: password,
      POSTGRES_DB: database!,
      PGDATA: RELATIONAL_DATA,
    },
    command: [
      'postgres',
      '-c',
      `config_file=${CONFIG_FILE}`,
      ...Object.entries(settings).flatMap(asArgument),
    ],
    volume: { name: row.volume, path: RELATIONAL_VOLUME },
  }
}

function asArgument([key, value]: [string, string]): string[] {
  return ['-c', `${key}=${value}`]
}

function memoryMb(row: DatastoreRow): number {
  return row.memory_limit_mb || useContext().options.defaultMemoryMb
}
