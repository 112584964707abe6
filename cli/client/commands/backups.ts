import type { Backup } from '#server/backups/schema.ts'
import type { Datastore } from '#server/datastores/schema.ts'
import type { DiskBackup } from '#server/disks/schema.ts'
import type { z } from 'zod'
import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import { confirm } from '../ask.ts'
import { printList } from '../columns.ts'
import { sizeText, timeText } from '../figures.ts'
import { settled } from '../settled.ts'
import { pathTo, qualifiedName, segment, targetOf } from '../target.ts'
import { withApi } from '../with-api.ts'
import { untilSettled } from './datastores.ts'

export type BackupRow = z.infer<typeof Backup> | z.infer<typeof DiskBackup>

/** Where backups of a kind are in the API, and the command that makes one. */
export interface Place {
  resource: 'datastores' | 'services'
  path: string
  command: string
}

export const OF_DATASTORES: Place = { resource: 'datastores', path: '/backups', command: 'db backup' }
export const OF_DISKS: Place = { resource: 'services', path: '/disk/backups', command: 'disk backup' }

/** Lists the backups of a datastore. */
export function list(call: Call): Promise<void> {
  return listBackups(call, OF_DATASTORES)
}

/** Lists the backups of a datastore or of a service's disk. */
export async function listBackups(call: Call, { resource, path, command }: Place): Promise<void> {
  const { out } = call
  const rows = await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const query = { environment: target.environment }
    return api.get<BackupRow[]>(pathTo(resource, target, path), query)
  })
  printList(out, rows, {
    columns: [
      { title: 'id', text: ({ id }) => id, isWhole: true },
      ...(resource === 'services' ? [{ title: 'disk', text: diskOf }] : []),
      { title: 'status', text: ({ status }) => status },
      { title: 'trigger', text: ({ trigger }) => trigger },
      { title: 'size', text: ({ size_bytes: bytes }) => (bytes === null ? '' : sizeText(bytes)) },
      { title: 'stored', text: ({ stored }) => stored.join(', ') },
      { title: 'created', text: ({ created_at }) => timeText(out, created_at) },
      { title: 'why', text: ({ error }) => error ?? '' },
    ],
    name: ({ id }) => id,
    emptyNote: `There are no backups. deployer ${command} ${call.words[0]} makes one.`,
  })
}

function diskOf(row: BackupRow): string {
  return 'disk' in row ? row.disk : ''
}

/** Backs a datastore up and waits for the end. */
export function create(call: Call): Promise<void> {
  return createBackup(call, OF_DATASTORES)
}

/** Backs a datastore or a service's disk up and waits for the end. */
export async function createBackup(call: Call, place: Place, body?: object): Promise<void> {
  const { out } = call
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const query = { environment: target.environment }
    const path = pathTo(place.resource, target, place.path)
    const begun = await api.send<BackupRow>('POST', path, body, { query })
    // One request can begin the backups of several disks, of which it answers with the first.
    const all = await settled(
      async () => {
        const rows = await api.get<BackupRow[]>(path, query)
        return rows.filter(({ created_at }) => created_at >= begun.created_at)
      },
      (rows) => rows.every(({ status }) => status !== 'running') || call.has('detach'),
    )
    const failed = all.find(({ status }) => status === 'failed')
    if (failed)
      throw new Fault(EXIT.failed, `${failed.id} of ${qualifiedName(target)} failed: ${failed.error}`)
    const backup = all.find(({ id }) => id === begun.id) ?? begun
    out.done(
      backup.size_bytes === null ? backup.id : `${backup.id} has ${sizeText(backup.size_bytes)}`,
      backup,
    )
  })
}

/** Restores a backup, into its own datastore once that is confirmed, or into a new one, and waits for the end. */
export async function restore(call: Call): Promise<void> {
  const [, backup] = call.words as [string, string]
  const into = call.text('into')
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const path = pathTo('datastores', target, `/backups/${segment(backup)}`)
    const query = { environment: target.environment }
    if (into === null) {
      await api.get<BackupRow>(path, query)
      await confirm(call, `Replace what ${qualifiedName(target)} holds with the backup ${backup}?`)
    }
    const body = into === null ? {} : { name: into }
    const begun = await api.send<Datastore>('POST', `${path}/restore`, body, { query })
    await untilSettled(call, api, begun, `restored from ${backup}`)
  })
}
