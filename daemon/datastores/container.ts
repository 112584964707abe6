import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { useContext } from '#server/context.ts'
import { KINDS } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import type { ContainerSpec } from '../engine/index.ts'
import { memorySettings } from './settings.ts'

const MIB = 1024 * 1024
/** Parallel queries share rows through /dev/shm, of which containers have 64 MiB (the postgres image's page, "Caveats"). */
const SHARED_MEMORY_SHARE = 4

/** Apart from where images keep data: theirs is another folder from major 18 on, and no data may hang on that. */
const RELATIONAL_VOLUME = '/var/lib/deployer'
/** Where both Redis's and Valkey's images keep data. */
const KEYVALUE_VOLUME = '/data'
const CONFIG_FOLDER = '/usr/local/etc'
const CONFIG_NAME = 'deployer.conf'

/** Where a datastore's container is to be. */
interface Location {
  network: string
  address: string
  hostPort: number
  imageId: string
}

/** The limits of a datastore's container: those asked for, else the server's defaults. */
export function containerLimits(row: DatastoreRow): { memoryBytes: number; cpus: number } {
  const { options } = useContext()
  return { memoryBytes: memoryMb(row) * MIB, cpus: row.cpu_limit || options.defaultCpus }
}

/** The one container of a datastore; its data is in the volume and outlives it. */
export function datastoreContainer(row: DatastoreRow, location: Location): ContainerSpec {
  const limits = containerLimits(row)
  return {
    name: row.id,
    image: location.imageId,
    labels: { 'deployer.kind': 'datastore', 'deployer.datastore': row.id },
    ...programOf(row),
    network: location.network,
    address: location.address,
    // For containers that the resolver of names does not answer.
    aliases: [row.name],
    ...limits,
    shmBytes: Math.floor(limits.memoryBytes / SHARED_MEMORY_SHARE),
    publishPort: KINDS[row.kind].port,
    hostPort: location.hostPort,
  }
}

/** A folder of the container and what is to be unpacked there before it starts; null when it needs no file. */
export function datastoreFiles(row: DatastoreRow): { folder: string; tar: Readable } | null {
  if (row.kind !== 'keyvalue') return null
  const archive = pack()
  // World-readable: it is read by the user that the program becomes, and nobody else is in the container.
  archive.entry({ name: CONFIG_NAME, mode: 0o644 }, keyvalueConfig(row))
  archive.finalize()
  return {
    folder: CONFIG_FOLDER,
    tar: Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }),
  }
}

function programOf(row: DatastoreRow): Pick<ContainerSpec, 'env' | 'command' | 'volume'> {
  if (row.kind === 'keyvalue') {
    return {
      env: {},
      command: [`${CONFIG_FOLDER}/${CONFIG_NAME}`],
      volume: { name: row.volume, path: KEYVALUE_VOLUME },
    }
  }
  const { username, password, database } = internalPlace(row)
  return {
    env: {
      POSTGRES_USER: username,
      POSTGRES_PASSWORD: password,
      POSTGRES_DB: database!,
      PGDATA: `${RELATIONAL_VOLUME}/data`,
    },
    command: ['postgres', ...Object.entries(memorySettings(row.kind, memoryMb(row))).flatMap(asArgument)],
    volume: { name: row.volume, path: RELATIONAL_VOLUME },
  }
}

/** In a file, since arguments are seen by every user of the host. */
function keyvalueConfig(row: DatastoreRow): string {
  const settings = {
    dir: KEYVALUE_VOLUME,
    requirepass: internalPlace(row).password,
    appendonly: 'yes',
    ...memorySettings(row.kind, memoryMb(row)),
  }
  return Object.entries(settings)
    .map(([key, value]) => `${key} ${value}\n`)
    .join('')
}

function asArgument([key, value]: [string, string]): string[] {
  return ['-c', `${key}=${value}`]
}

function memoryMb(row: DatastoreRow): number {
  return row.memory_limit_mb || useContext().options.defaultMemoryMb
}
