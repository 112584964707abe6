import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './paths.mjs'
import { onTerminal } from './terminal.mjs'

/** @typedef {import('../../test/support/run-report.ts').RunReport} RunReport */
/** @typedef {import('../../test/support/run-report.ts').FileReport} FileReport */

/** The tag of tests that only run in `npm test -- --all` (vitest.config.ts). */
export const SLOW_TAG = 'slow'

/** A file system in memory for the files of tests: servers call fsync for each change, which costs nothing there. */
const MEMORY = '/dev/shm'
/** Tests use less than a fifth of this at a time. */
const MEMORY_NEEDED_BYTES = 8 * 1024 ** 3

/**
 * Runs vitest on this terminal.
 *
 * @param {string} node
 * @param {string[]} args
 * @param {{ isAll: boolean }} tier
 * @returns {Promise<RunReport & { code: number }>} its exit code and its report; without files if it did not get that far
 */
export async function runVitest(node, args, { isAll }) {
  const folder = makeFolder()
  const report = join(folder, 'report.json')
  const flags = ['--reporter=default', '--reporter=./test/support/run-report.ts']
  if (!isAll) flags.push(`--tags-filter=!${SLOW_TAG}`)
  // Suites that need no container engine keep their files there (vitest.config.ts).
  if (folder.startsWith(MEMORY)) process.env.TEST_MEMORY = folder
  process.env.VITEST_REPORT = report
  process.env.TEST_TIER = isAll ? 'all' : 'first'
  // Hundreds of node processes load the same programs.
  process.env.NODE_COMPILE_CACHE ??= join(ROOT, '.cache/compile')
  try {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const code = await onTerminal(node, [vitest, 'run', ...flags, ...args])
    /** @type {RunReport} */
    const run = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { files: [], outside: 0 }
    return { code, ...run }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Creates a folder for the files of a run, in memory if there is enough and programs may be started from there. Its name is
 * short because socket paths have at most 107 characters (unix(7)).
 */
function makeFolder() {
  if (!process.env.TMPDIR && existsSync(MEMORY)) {
    const { bavail, bsize } = statfsSync(MEMORY)
    const folder = mkdtempSync(join(MEMORY, 'dt-'))
    if (Math.min(bavail * bsize, freemem()) >= MEMORY_NEEDED_BYTES && startsPrograms(folder)) return folder
    rmSync(folder, { recursive: true })
  }
  return mkdtempSync(join(tmpdir(), 'dt-'))
}

/**
 * @param {string} folder
 * @returns {boolean} whether its file system is not mounted noexec (access(2), EACCES)
 */
function startsPrograms(folder) {
  const program = join(folder, 'program')
  writeFileSync(program, '', { mode: 0o700 })
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Returns what failed in a file: its tests, or the file itself.
 *
 * @param {FileReport} file
 * @returns {string[]} one line for each
 */
export function faultsOf({ path, failed, isBroken }) {
  return isBroken ? [path] : failed.map((name) => `${path} > ${name}`)
}
