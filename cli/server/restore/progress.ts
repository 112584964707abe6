import { join } from 'node:path'
import { assertSameSchema, findServer, isMissing, openBesideServer } from '../running.ts'
import { AppError } from '#server/errors.ts'
import type { Database } from '#server/database/index.ts'
import { getRestore, moveRestore, restoreSteps } from '#server/restore/store.ts'
import { restoreWaits } from '#server/restore/waiting.ts'
import type { Call } from '../../call.ts'
import { printList } from '../../client/columns.ts'

const FAILED = 3

/** Prints how a restore goes, whether the server runs or not. Returns 3 when a step failed. */
export async function showRestore(call: Call, dataDirectory: string): Promise<number | void> {
  return withDatabase(dataDirectory, (database) => {
    const restore = getRestore(database)
    if (!restore) throw new AppError('not_found', `${dataDirectory} was not restored from a backup`)
    const steps = restoreSteps(database)
    const waiting = restoreWaits(database)
    if (call.out.isJson) call.out.json({ status: restore.status, waiting, steps })
    else {
      call.out.line(restore.status)
      printList(call.out, steps, {
        columns: [
          { title: 'what', text: ({ resource }) => resource },
          {
            title: 'name',
            text: ({ name, disk }) => (disk === null ? name : `${name} (${disk})`),
            isWhole: true,
          },
          { title: 'action', text: ({ action }) => action },
          { title: 'status', text: ({ status }) => status },
          { title: 'error', text: ({ error }) => error ?? '' },
        ],
        name: ({ id }) => id,
        emptyNote:
          restore.status === 'fenced'
            ? 'deployer restore --confirm says that the old server is gone, and lets this one go to work.'
            : (waiting ?? 'Its steps are found out when the container engine answers.'),
      })
    }
    return steps.some(({ status }) => status === 'failed') ? FAILED : 0
  })
}

/** Says that the old server is gone. A running server goes to work at once. */
export async function confirm(call: Call, dataDirectory: string): Promise<void> {
  await withDatabase(dataDirectory, (database) => {
    if (moveRestore('fenced', 'running', database))
      return call.out.done('confirmed: deployer restore --status shows how it goes')
    const status = getRestore(database)?.status
    throw new AppError(
      'conflict',
      status === undefined
        ? `${dataDirectory} was not restored from a backup`
        : `the restore is ${status}: it was confirmed already`,
    )
  })
}

async function withDatabase<T>(dataDirectory: string, work: (database: Database) => T): Promise<T> {
  const file = join(dataDirectory, 'deployer.db')
  if (isMissing(file))
    throw new AppError('not_found', `no server has used ${dataDirectory} yet: pass its --data-dir`)
  if (findServer(dataDirectory)) assertSameSchema(file)
  const database = await openBesideServer(file, null)
  try {
    return work(database)
  } finally {
    await database.close()
  }
}
