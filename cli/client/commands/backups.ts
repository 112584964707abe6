import type { Backup } from '#server/backups/schema.ts'
import type { Datastore } from '#server/datastores/schema.ts'
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

export type BackupRow = z.infer<typeof Backup>

/** Lists the backups of a datastore. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const rows = await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const query = { environment: target.environment }
    return api.get<BackupRow[]>(pathTo('datastores', target, '/backups'), query)
  })
  printList(out, rows, {
    columns: [
      { title: 'id', text: ({ id }) => id, isWhole: true },
      { title: 'status', text: ({ status }) => status },
      { title: 'trigger', text: ({ trigger }) => trigger },
      { title: 'size', text: ({ size_bytes: bytes }) => (bytes === null ? '' : sizeText(bytes)) },
      { title: 'stored', text: ({ stored }) => stored.join(', ') },
      { title: 'created', text: ({ created_at }) => timeText(out, created_at) },
      { title: 'why', text: ({ error }) => error ?? '' },
    ],
    name: ({ id }) => id,
    emptyNote: `There are no backups. deployer db backup ${call.words[0]} makes one.`,
  })
}

/** Backs a datastore up and waits for the end. */
export async function create(call: Call): Promise<void> {
  const { out } = call
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const query = { environment: target.environment }
    const path = pathTo('datastores', target, '/backups')
    const begun = await api.send<BackupRow>('POST', path, undefined, { query })
    const backup = await settled(
      () => api.get<BackupRow>(`${path}/${segment(begun.id)}`, query),
      ({ status }) => status !== 'running' || call.has('detach'),
    )
    if (backup.status === 'failed')
      throw new Fault(EXIT.failed, `${backup.id} of ${qualifiedName(target)} failed: ${backup.error}`)
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
