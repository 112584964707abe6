import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { countDeploysUnderWay } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import { markAsOfUpgrade } from '#server/server-backups/store.ts'
import type { Call } from '../../call.ts'
import { backUpRunning } from '../backup.ts'
import { withLocalApi } from '../local-api.ts'
import { openBesideServer, type RunningServer } from '../running.ts'

const POLL_EVERY_MS = 500
/** As long as a build may take. */
const DEPLOYS_WITHIN_MS = 60 * 60_000

/** Makes a server backup, which is kept apart from others. Throws when it fails. */
export async function backUpFirst(call: Call, dataDirectory: string, server: RunningServer): Promise<void> {
  call.out.note('backing the server up')
  const made = await withLocalApi(dataDirectory, server, (api) => backUpRunning(call, api, {}))
  if (made.error !== null) call.out.note(`warning: ${made.error}`)
  const database = await openBesideServer(join(dataDirectory, 'deployer.db'), null)
  try {
    markAsOfUpgrade(database, made.id)
  } finally {
    await database.close()
  }
  call.out.note(`backed up: ${made.id}`)
}

/** Waits until no deploy is being built or started. Throws `conflict` when one takes too long. */
export async function untilNoDeploy(call: Call, dataDirectory: string): Promise<void> {
  const database = await openBesideServer(join(dataDirectory, 'deployer.db'), null)
  try {
    const until = performance.now() + DEPLOYS_WITHIN_MS
    let count = countDeploysUnderWay(database)
    if (count > 0) call.out.note(`waiting for ${count} deploys under way`)
    for (; count > 0; count = countDeploysUnderWay(database)) {
      if (performance.now() > until)
        throw new AppError(
          'conflict',
          'deploys are still under way after an hour: cancel them, or try again later',
        )
      await delay(POLL_EVERY_MS)
    }
  } finally {
    await database.close()
  }
}
