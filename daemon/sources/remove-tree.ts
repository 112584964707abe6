import { existsSync } from 'node:fs'
import { withReader } from '../reader/reader.ts'
import { REMOVE_TREE } from './jobs.ts'

/**
 * Removes a folder of a user's files; a missing one is fine. Another process does it: 200,000 files would take the
 * server 400 MiB and hold it up for seconds.
 */
export async function removeTree(directory: string): Promise<void> {
  if (!existsSync(directory)) return
  await withReader(undefined, (reader) => reader.ask(REMOVE_TREE, { directory }))
}
