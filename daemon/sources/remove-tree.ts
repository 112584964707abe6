import { existsSync } from 'node:fs'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { Slots } from '#server/work/slots.ts'
import { withReader } from '../reader/reader.ts'
import { REMOVE_TREE } from './reader-calls.ts'

/** Each removal is a process of 60 MiB, and canceled deploys do not wait for theirs. */
const REMOVALS_AT_ONCE = 2

const removals = new Slots(REMOVALS_AT_ONCE)
const log = logger('builds')

/**
 * Removes a folder of a user's files, if it exists. Another process does it: 200,000 files would cost the server 400 MiB and
 * block it for seconds.
 */
export async function removeTree(directory: string): Promise<void> {
  if (!existsSync(directory)) return
  await removals.run(() => withReader(undefined, (reader) => reader.ask(REMOVE_TREE, { directory })))
}

/** The same at the end of some work. A failure is only logged, since it does not change the result of the work. */
export async function clearTree(directory: string): Promise<void> {
  await removeTree(directory).catch((error: unknown) =>
    log.warn('the files of a source could not be removed', { directory, error: messageOf(error) }),
  )
}
