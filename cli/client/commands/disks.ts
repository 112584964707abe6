import type { DiskRestore } from '#server/disks/schema.ts'
import type { z } from 'zod'
import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import { confirm } from '../ask.ts'
import { settled } from '../settled.ts'
import { pathTo, qualifiedName, segment, targetOf } from '../target.ts'
import { withApi } from '../with-api.ts'
import { createBackup, listBackups, OF_DISKS, type BackupRow } from './backups.ts'
import { downloadBackup } from './download.ts'

/** A service, as far as its disk is concerned. */
interface Restored {
  id: string
  name: string
  environment: string
  disk_restore: z.infer<typeof DiskRestore> | null
}

/** Lists the backups of a service's disk. */
export function list(call: Call): Promise<void> {
  return listBackups(call, OF_DISKS)
}

/** Backs the disks of a service up, or one of them, and waits for the end. */
export function create(call: Call): Promise<void> {
  const disk = call.text('disk')
  return createBackup(call, OF_DISKS, { suspend: call.has('suspend'), ...(disk === null ? {} : { disk }) })
}

/** Downloads a backup of a service's disk. */
export function download(call: Call): Promise<void> {
  return downloadBackup(call, OF_DISKS)
}

/** Restores a backup over the disk of its own service or of another one, once that is confirmed, and waits for the end. */
export async function restore(call: Call): Promise<void> {
  const [, backup] = call.words as [string, string]
  const into = call.text('into')
  const disk = call.text('disk')
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const path = pathTo(OF_DISKS.resource, target, `${OF_DISKS.path}/${segment(backup)}`)
    const query = { environment: target.environment }
    await api.get<BackupRow>(path, query)
    const which = disk === null ? 'disk' : `disk ${disk}`
    await confirm(call, `Replace the ${which} of ${into ?? qualifiedName(target)} with the backup ${backup}?`)
    const body = { ...(into === null ? {} : { service: into }), ...(disk === null ? {} : { disk }) }
    const begun = await api.send<Restored>('POST', `${path}/restore`, body, { query })
    const service = await settled(
      () => api.get<Restored>(pathTo('services', { name: begun.id })),
      ({ disk_restore }) => disk_restore?.status !== 'running' || call.has('detach'),
    )
    const name = qualifiedName(service)
    if (service.disk_restore?.status === 'failed')
      throw new Fault(EXIT.failed, `the disk of ${name} was not restored: ${service.disk_restore.error}`)
    const isDone = service.disk_restore?.status === 'succeeded'
    call.out.done(`the disk of ${name} is ${isDone ? `restored from ${backup}` : 'being restored'}`, service)
  })
}
