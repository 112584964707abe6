import { dirname, join } from 'node:path'
import type { Call } from '#daemon/reader/call.ts'
import { provideReaderProgram, Reader, withReader } from '#daemon/reader/reader.ts'
import { provideGitRunner } from '#daemon/sources/git-command.ts'
import { builtServer } from './build.ts'

/** A job that no reader knows: a healthy reader says so. */
const UNKNOWN: Call<null, null> = {
  name: 'unknown',
  doing: 'being asked',
  limits: { cpuSeconds: 1, seconds: null },
}

let shared: Reader | null = null
let isLent = false

/**
 * Uses the built server's processes to read sources and start git, for tests of code that uses them without the server.
 * Returns a function that ends the shared reader.
 */
export async function useBuiltReader(): Promise<() => Promise<void>> {
  const folder = dirname(await builtServer())
  provideReaderProgram(join(folder, 'source-reader.mjs'))
  provideGitRunner(join(folder, 'git-runner.mjs'))
  return endSharedReader
}

/**
 * Runs work with a reader that is started once for many tests, if readers are not the subject: starting one takes longer
 * than most of the work. While it is in use, others get one of their own.
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
