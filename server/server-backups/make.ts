import { rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateDirectory } from '../files.ts'
import { timestamp } from '../clock.ts'
import { disksOf } from '../disks/list.ts'
import { copyDatabase } from '../database/copy.ts'
import { listItems, type Wanted } from './contents.ts'
import { FORMAT, type Manifest } from './manifest.ts'
import type { Source } from './pack.ts'

/** What to back up, and how. */
export interface Order {
  dataDirectory: string
  /** Where the database is copied to meanwhile. */
  databaseCopy: string
  includes: Manifest['includes']
  /** The version of the server. */
  version: string
  /** The settings that the server was started with, by variable. */
  settings: Record<string, string>
  /** The text of the settings of `deployer install`; null when it is not installed. */
  savedSettings: string | null
  /** Throws if there is no room for a backup of at most so many bytes. */
  assertRoom?: (bytes: number) => Promise<void>
}

/**
 * Has `pack` make a backup of a data directory, whether a server runs on it or not, from a copy of its database that is
 * removed then. Returns what it returns.
 */
export async function makeServerBackup<T>(order: Order, pack: (source: Source) => Promise<T>): Promise<T> {
  const { dataDirectory, databaseCopy, includes } = order
  makePrivateDirectory(dirname(databaseCopy))
  await rm(databaseCopy, { force: true })
  try {
    await order.assertRoom?.((await stat(join(dataDirectory, 'deployer.db'))).size)
    await copyDatabase(join(dataDirectory, 'deployer.db'), databaseCopy)
    const { datastores, disks, backups, schema, serverId } = recordsIn(databaseCopy, dataDirectory, includes)
    const wanted: Wanted = { dataDirectory, logs: includes.logs, backups }
    const bytes = (await stat(databaseCopy)).size + (await sizeOf(wanted))
    await order.assertRoom?.(bytes)
    const manifest: Manifest = {
      format: FORMAT,
      version: order.version,
      schema,
      server_id: serverId,
      created_at: timestamp(Date.now()),
      host: hostname(),
      data_directory: dataDirectory,
      includes,
      settings: order.settings,
      bytes,
      datastores,
      disks,
    }
    return await pack({ ...wanted, manifest, database: databaseCopy, savedSettings: order.savedSettings })
  } finally {
    await rm(databaseCopy, { force: true })
  }
}

interface Records {
  datastores: Manifest['datastores']
  disks: Manifest['disks']
  /** The version of the database. */
  schema: number
  /** Names of files in `backups/`. */
  backups: string[]
  serverId: string
}

/** Reads from the copy which files belong to it, since the database may be changing. */
function recordsIn(copy: string, dataDirectory: string, includes: Manifest['includes']): Records {
  const database = new DatabaseSync(copy, { readOnly: true })
  try {
    const [server] = database.prepare("SELECT value FROM settings WHERE key = 'server_id'").all()
    const datastores = database.prepare('SELECT id, name, kind FROM datastores ORDER BY id').all() as Omit<
      Manifest['datastores'][number],
      'backup_id'
    >[]
    const newest = database.prepare(
      "SELECT id FROM backups WHERE owner_id = ? AND disk IS ? AND status <> 'failed' AND sha256 IS NOT NULL ORDER BY sequence DESC",
    )
    const isHere = (id: string) => existsSync(join(dataDirectory, 'backups', id))
    const newestHere = (id: string, disk: string | null = null) =>
      (newest.all(id, disk) as { id: string }[]).map((row) => row.id).find(isHere) ?? null
    const listed = datastores.map(({ id, name, kind }) => ({
      id,
      name,
      kind,
      backup_id: includes.datastores ? newestHere(id) : null,
    }))
    const services = database.prepare('SELECT id, name, disks FROM services ORDER BY id')
    const disks = (services.all() as { id: string; name: string; disks: string }[]).flatMap((service) =>
      disksOf(service).map(({ name: disk }) => ({
        id: service.id,
        name: service.name,
        disk,
        backup_id: includes.disks ? newestHere(service.id, disk) : null,
      })),
    )
    const { user_version: schema } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    return {
      datastores: listed,
      disks,
      schema,
      backups: [...listed, ...disks].map(({ backup_id }) => backup_id).filter((id) => id !== null),
      serverId: String(server?.value ?? ''),
    }
  } finally {
    database.close()
  }
}

async function sizeOf(wanted: Wanted): Promise<number> {
  let bytes = 0
  for await (const { size } of listItems(wanted)) bytes += size
  return bytes
}
