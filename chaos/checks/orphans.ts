import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { docker } from '../../test/engine/live.ts'
import { waitFor } from '../../test/support/wait.ts'
import { Finding } from '../finding.ts'
import type { Rig } from '../rig.ts'
import { read } from './recorded.ts'

/** For a minute after the clock was set nothing is cleaned up. */
const CLEANUP_LIMIT_MS = 90_000
/** What the cleanup does not cover is looked for each minute. */
const LEFTOVERS_LIMIT_MS = 75_000
const POLL_MS = 1_000
const ARCHIVES = 'archives'
/** An archive whose deploy was never recorded is kept for ten minutes, as its upload might go on, until the next cleanup. */
const UNRECORDED_MS = 11 * 60_000

/** Ids of everything that has a folder or a file of its own. */
const ID = /(?:srv|dep|job|dbs|bak|dbk|sbk)-[0-9a-f]{20}/
/** Folders of the data directory whose entries each belong to a record. */
const RECORDED = [ARCHIVES, 'sites', 'logs', 'logs/services', 'backups', 'backups/server']
/** Folders in which nothing stays. */
const PASSING = ['checkouts', 'deliveries']

const RECORDS = `SELECT id FROM services UNION ALL SELECT id FROM deploys UNION ALL SELECT id FROM jobs
  UNION ALL SELECT id FROM datastores UNION ALL SELECT id FROM backups UNION ALL SELECT id FROM server_backups`
/** What the records say should be in the engine. */
const WANTED = {
  container: `SELECT id AS name FROM instances UNION ALL SELECT id FROM datastores`,
  network: `SELECT 'deployer-' || id AS name FROM environments`,
  volume: `SELECT 'deployer-' || id AS name FROM services UNION ALL SELECT volume FROM disk_volumes
    UNION ALL SELECT volume FROM datastores UNION ALL SELECT volume FROM spare_volumes`,
  image: `SELECT 'deployer-' || value || '/' || service_id || ':' || deploys.id AS name
    FROM deploys JOIN settings ON key = 'server_id' WHERE image_id IS NOT NULL`,
} as const
type Kind = keyof typeof WANTED

/** Throws a Finding for what is left when the server has had the time to clean up. */
export async function checkOrphans(rig: Rig): Promise<void> {
  await cleanUp(rig)
  const until = performance.now() + LEFTOVERS_LIMIT_MS
  for (;;) {
    const left = await orphans(rig)
    if (left.length === 0) return
    if (performance.now() > until) throw new Finding(`left over:\n${left.join('\n')}`)
    await delay(POLL_MS)
  }
}

/** What the server keeps of records that are gone, and records of what is gone; none when everything is well. */
async function orphans(rig: Rig): Promise<string[]> {
  const database = new DatabaseSync(join(rig.dataDirectory, 'deployer.db'), { readOnly: true })
  const names = (sql: string, ...values: string[]): Set<string> => {
    const rows = database.prepare(sql).all(...values) as { name?: string; id?: string }[]
    return new Set(rows.map(({ name, id }) => name ?? id!))
  }
  try {
    const found: string[] = []
    for (const kind of Object.keys(WANTED) as Kind[]) {
      const actual = await inEngine(rig, kind)
      const recorded = names('SELECT name FROM engine_things WHERE kind = ?', kind)
      const made = names('SELECT name FROM engine_things WHERE kind = ? AND engine_id IS NOT NULL', kind)
      const wanted = names(WANTED[kind])
      found.push(
        ...actual.filter((name) => !recorded.has(name)).map((name) => `the ${kind} ${name} is not recorded`),
        ...actual.filter((name) => !wanted.has(name)).map((name) => `nothing needs the ${kind} ${name}`),
        ...[...recorded]
          .filter((name) => !actual.includes(name) && !isPulled(kind, name))
          // A network that could not be created is created with its first container.
          .filter((name) => made.has(name) || !wanted.has(name))
          .map((name) => `the ${kind} ${name} is recorded and does not exist`),
      )
    }
    return [...found, ...strayFiles(rig.dataDirectory, names(RECORDS))]
  } finally {
    database.close()
  }
}

/** Has the server clean up, which it otherwise does each minute. */
async function cleanUp(rig: Rig): Promise<void> {
  await waitFor(
    async () => {
      const { status, body } = await rig.server.api('POST', '/server/cleanup')
      if (status === 200) return true
      if (status !== 409)
        throw new Finding(`the cleanup was answered with ${status}: ${JSON.stringify(body)}`)
      return false
    },
    'the server to clean up',
    CLEANUP_LIMIT_MS,
  )
}

/** The names of what has the server's label, or its prefix. */
async function inEngine(rig: Rig, kind: Kind): Promise<string[]> {
  const label = `label=deployer.server=${rig.serverId}`
  const lists: Record<Kind, string[]> = {
    container: ['ps', '--all', '--filter', label, '--format', '{{.Names}}'],
    network: ['network', 'ls', '--filter', label, '--format', '{{.Name}}'],
    volume: ['volume', 'ls', '--filter', label, '--format', '{{.Name}}'],
    image: [
      'images',
      '--filter',
      `reference=deployer-${rig.serverId}/*`,
      '--format',
      '{{.Repository}}:{{.Tag}}',
    ],
  }
  return (await docker(...lists[kind])).split('\n').filter(Boolean)
}

/** Images that were pulled are recorded by the names that users wrote; others may use them, too. */
function isPulled(kind: Kind, name: string): boolean {
  return kind === 'image' && !name.startsWith('deployer-')
}

function strayFiles(dataDirectory: string, records: ReadonlySet<string>): string[] {
  const entries = (folder: string): string[] =>
    existsSync(join(dataDirectory, folder)) ? readdirSync(join(dataDirectory, folder)) : []
  return [
    ...RECORDED.flatMap((folder) =>
      entries(folder)
        .filter((name) => !RECORDED.includes(`${folder}/${name}`) && !records.has(ID.exec(name)?.[0] ?? ''))
        .filter((name) => folder !== ARCHIVES || ageMs(join(dataDirectory, folder, name)) > UNRECORDED_MS)
        .map((name) => `nothing needs the file ${folder}/${name}`),
    ),
    ...PASSING.flatMap((folder) => entries(folder).map((name) => `${folder}/${name} was left`)),
  ]
}

function ageMs(path: string): number {
  return Date.now() - statSync(path).mtimeMs
}

/** Checks of the doctor that hold whatever happened. */
const DOCTOR = ['engine', 'data_directory', 'database', 'strays', 'data_plane']

/** Throws a Finding if the doctor finds something that has to do with the server itself. */
export async function askDoctor(rig: Rig): Promise<void> {
  const checks = await read<{ id: string; outcome: string; message: string }[]>(rig, '/server/doctor')
  const bad = checks.filter(({ id, outcome }) => DOCTOR.includes(id) && outcome !== 'passed')
  if (bad.length > 0) throw new Finding(`the doctor finds: ${JSON.stringify(bad)}`)
}
