import { join } from 'node:path'
import { getBackup } from '#server/backups/store.ts'
import { useContext } from '#server/context.ts'
import { namesIn, sizeOf } from '#server/disk-use/sizes.ts'
import { serviceOfRun } from './names.ts'
import type { Tally } from './tally.ts'

/** Counts what takes room in the data directory. A year of logs is hundreds of thousands of files, so this can take a while. */
export async function tallyFiles(tally: Tally): Promise<void> {
  const { dataDirectory } = useContext().options
  const within = (...names: string[]) => join(dataDirectory, ...names)
  const count = async (
    kind: Parameters<Tally['add']>[0],
    folder: string,
    ownerOf: (name: string) => string,
  ) => {
    for await (const name of namesIn(folder))
      tally.add(kind, ownerOf(name), (await sizeOf(join(folder, name))).bytes)
  }
  await count('archives', within('archives'), ownerOfRun)
  await count('sites', within('sites'), ownerOfRun)
  await count('mirrors', within('mirrors'), (name) => name)
  await count('server_backups', within('backups', 'server'), (name) => name)
  for await (const name of namesIn(within('backups')))
    if (name !== 'server')
      tally.add('datastore_backups', ownerOfBackup(name), (await sizeOf(within('backups', name))).bytes)
  for await (const name of namesIn(within('logs')))
    if (name !== 'services') tally.add('logs', ownerOfRun(name), (await sizeOf(within('logs', name))).bytes)
  for await (const id of namesIn(within('logs', 'services'))) {
    const { bytes, files } = await sizeOf(within('logs', 'services', id))
    tally.add('logs', id, bytes, files)
  }
  for await (const name of namesIn(dataDirectory))
    for (const [kind, file] of DATABASES)
      if (name.startsWith(file))
        tally.add(kind, kind, (await sizeOf(within(name))).bytes, Number(name === file))
}

/** SQLite keeps more files next to each, with the same beginning. */
const DATABASES = [
  ['database', 'deployer.db'],
  ['metrics', 'metrics.db'],
] as const

/** The service that a file named after a deploy or a job belongs to; the name if it is not known any more. */
function ownerOfRun(name: string): string {
  const id = /^(?:dep|job)-[0-9a-f]{20}/.exec(name)?.[0]
  return (id === undefined ? null : serviceOfRun(id)) ?? name
}

function ownerOfBackup(name: string): string {
  const id = /^bak-[0-9a-f]{20}/.exec(name)?.[0]
  return (id === undefined ? undefined : getBackup(id)?.datastore_id) ?? name
}
