import { dirname, join } from 'node:path'
import type { Call } from '#daemon/reader/call.ts'
import { provideReaderProgram, Reader, withReader } from '#daemon/reader/reader.ts'
import { provideGitRunner } from '#daemon/sources/git-command.ts'
import { builtServer } from './build.ts'

/** Nothing that a reader knows: it says so, while it is well. */
const UNKNOWN: Call<null, null> = {
  name: 'unknown',
  doing: 'being asked',
  limits: { cpuSeconds: 1, seconds: null },
}

let shared: Reader | null = null
let isLent = false

/**
 * Has the processes that read sources and start git be those of the built server, for tests of what uses them without it.
 * Answers what ends the shared reader.
 */
export async function useBuiltReader(): Promise<() => Promise<void>> {
  const folder = dirname(await builtServer())
  provideReaderProgram(join(folder, 'source-reader.mjs'))
  provideGitRunner(join(folder, 'git-runner.mjs'))
  return endSharedReader
}

/**
 * Has a work done with a reader that is started once for many, where the tests are not of readers: to start one takes
 * longer than most of what it is asked. While it is lent, others get one of their own.
 */
export async function withSharedReader<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
  if (isLent) return withReader(undefined, work)
  isLent = true
  try {
    return await work((shared ??= new Reader()))
  } catch (error) {
    if (!(await isWell(shared!))) await endSharedReader()
    throw error
  } finally {
    isLent = false
  }
}

export async function endSharedReader(): Promise<void> {
  await shared?.end()
  shared = null
}

async function isWell(reader: Reader): Promise<boolean> {
  const said = await reader.ask(UNKNOWN, null).catch((error: Error) => error.message)
  return said === `there is no call ${UNKNOWN.name}`
}
