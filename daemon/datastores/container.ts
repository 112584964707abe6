import { useContext } from '#server/context.ts'
import { KINDS, type DatastoreKind } from '#server/datastores/kinds.ts'
import { getRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import type { ContainerSpec, ContainerState } from '../engine/index.ts'
import { isElsewhere } from './home.ts'
import { CONFIG_FILE, TLS_SETTINGS } from './files.ts'
import { memorySettings } from './settings.ts'
import { CHECKPOINT_SECONDS } from './stop.ts'
import { TOOL_CPUS, TOOL_MEMORY_BYTES } from './tool.ts'

const MIB = 1024 * 1024
/** A half-filled volume is worthless, so an engine that shuts down need not wait for it long. */
const FILLING_STOP_SECONDS = 10
/** Parallel queries share rows through /dev/shm, of which containers have 64 MiB (the postgres image's page, "Caveats"). */
const SHARED_MEMORY_SHARE = 4

/** Not the folder that images use by default: it changed with major version 18, and data must not depend on that. */
export const RELATIONAL_VOLUME = '/var/lib/deployer'
export const RELATIONAL_DATA = `${RELATIONAL_VOLUME}/data`
/** The data folder of both Redis's and Valkey's images. */
export const KEYVALUE_VOLUME = '/data'

/** Where a datastore's container should run. */
interface Location {
  place: Pick<ContainerSpec, 'network' | 'address' | 'joined'>
  hostPort: number
  /** The host port for TLS; null if TLS uses the same port. */
  hostTlsPort: number | null
  imageId: string
}

/** Returns the limits of a datastore's container: those requested, else the server's defaults. */
export function containerLimits(row: DatastoreRow): { memoryBytes: number; cpus: number } {
  const { options } = useContext()
  return { memoryBytes: memoryMb(row) * MIB, cpus: row.cpu_limit || options.defaultCpus }
}

/** Returns the spec of a datastore's container; its data is in the volume and outlives the container. */
export function datastoreContainer(row: DatastoreRow, location: Location): ContainerSpec {
  const mode = modeOf(row)
  const { port, tlsPort } = KINDS[row.kind]
  const { hostPort, hostTlsPort } = location
  return {
    name: row.id,
    image: location.imageId,
    labels: { 'deployer.kind': 'datastore', 'deployer.datastore': row.id, [MODE_LABEL]: mode },
    ...programOf(row, mode),
    ...location.place,
    // For containers that do not use the server's resolver.
    aliases: [row.name],
    // The ports on this host of what runs on another node are the server's own.
    ports: isElsewhere(row)
      ? []
      : [
          { inside: port, host: hostPort },
          ...(hostTlsPort === null ? [] : [{ inside: tlsPort, host: hostTlsPort }]),
        ],
  }
}

/**
 * Returns the spec of a container that fills a volume for a datastore, or tries it. The programs that load a backup run in it
 * too, so it has more memory, and at least one CPU.
 */
export function fillingContainer(
  row: DatastoreRow,
  volume: string,
  imageId: string,
  mode: Mode,
): Omit<ContainerSpec, 'network' | 'labels'> {
  const program = programOf({ ...row, volume }, mode)
  return {
    ...program,
    name: volume,
    image: imageId,
    memoryBytes: program.memoryBytes + TOOL_MEMORY_BYTES,
    cpus: Math.max(program.cpus, TOOL_CPUS),
  }
}

/** Whether a datastore's container has the mode that its record asks for; otherwise it is created again. */
export function isInMode(row: DatastoreRow, { labels }: ContainerState): boolean {
  return (labels[MODE_LABEL] ?? 'serving') === modeOf(row)
}

function modeOf(row: DatastoreRow): Mode {
  return getRestoreOrUpgrade(row.id)?.reads_only === 1 ? 'read-only' : 'serving'
}

/** `filling`: it loads a backup, and no client uses it yet. */
export type Mode = 'serving' | 'read-only' | 'filling'
const MODE_LABEL = 'deployer.datastore.mode'

/** The settings of a program in a mode, in addition to those that always apply. */
const MODE_SETTINGS: Record<DatastoreKind, Record<Mode, Record<string, string>>> = {
  relational: {
    serving: {},
    // Its own background work, and that of extensions and subscriptions, must not look like writes of a client.
    'read-only': { default_transaction_read_only: 'on', autovacuum: 'off', max_worker_processes: '0' },
    filling: {},
  },
  keyvalue: {
    serving: { appendonly: 'yes' },
    // It has no replica, so requiring one makes it refuse all writes.
    'read-only': { appendonly: 'yes', 'min-replicas-to-write': '1' },
    // With append-only on it would not load a snapshot.
    filling: { appendonly: 'no' },
  },
}

/** Returns the configuration file of a datastore's program. */
export function programConfig(row: DatastoreRow, hasTls: boolean, mode: Mode = modeOf(row)): string {
  const settings = { ...(hasTls ? TLS_SETTINGS[row.kind] : {}), ...FILE_SETTINGS[row.kind](row, mode) }
  return Object.entries(settings)
    .map(([key, value]) => `${key} ${value}\n`)
    .join('')
}

/** The settings in that file besides TLS. */
const FILE_SETTINGS: Record<DatastoreKind, (row: DatastoreRow, mode: Mode) => Record<string, string>> = {
  // In the file, because the image's own file and ALTER SYSTEM can override this; they cannot override arguments.
  relational: () => ({
    shared_preload_libraries: "'pg_stat_statements'",
    include: `'${RELATIONAL_DATA}/postgresql.conf'`,
  }),
  // All settings, because every user of the host can see arguments.
  keyvalue: (row, mode) => ({
    dir: KEYVALUE_VOLUME,
    requirepass: internalPlace(row).password,
    // The only replica is a backup, which need not wait for others.
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
      volumes: [{ name: row.volume, path: KEYVALUE_VOLUME }],
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
    volumes: [{ name: row.volume, path: RELATIONAL_VOLUME }],
  }
}

function asArgument([key, value]: [string, string]): string[] {
  return ['-c', `${key}=${value}`]
}

function memoryMb(row: DatastoreRow): number {
  return row.memory_limit_mb || useContext().options.defaultMemoryMb
}
