import { existsSync } from 'node:fs'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { Slots } from '#server/work/slots.ts'
import { withReader } from '../reader/reader.ts'
import { REMOVE_TREE } from './reader-calls.ts'

/** Each is a process of 60 MiB, and who cancels does not wait for it. */
const REMOVALS_AT_ONCE = 2

const removals = new Slots(REMOVALS_AT_ONCE)
const log = logger('builds')

/**
 * Removes a folder of a user's files; a missing one is fine. Another process does it: 200,000 files would take the
 * server 400 MiB and hold it up for seconds.
 */
export async function removeTree(directory: string): Promise<void> {
  if (!existsSync(directory)) return
  await removals.run(() => withReader(undefined, (reader) => reader.ask(REMOVE_TREE, { directory })))
}

/** Does so at the end of a work, whose outcome a failure does not change: it is logged. */
export async function clearTree(directory: string): Promise<void> {
  await removeTree(directory).catch((error: unknown) =>
    log.warn('the files of a source are left', { directory, error: messageOf(error) }),
  )
}
