import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './paths.mjs'
import { onTerminal } from './terminal.mjs'

/** @typedef {import('../../test/support/run-report.ts').RunReport} RunReport */
/** @typedef {import('../../test/support/run-report.ts').FileReport} FileReport */

/** What is only in `npm test -- --all` carries this tag (vitest.config.ts). */
export const SLOW_TAG = 'slow'

/**
 * Runs vitest on this terminal.
 *
 * @param {string} node
 * @param {string[]} args
 * @param {{ isAll: boolean }} tier
 * @returns {Promise<RunReport & { code: number }>} its exit code and what it reports; no files when it did not come that far
 */
export async function runVitest(node, args, { isAll }) {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-results-'))
  const report = join(folder, 'report.json')
  const flags = ['--reporter=default', '--reporter=./test/support/run-report.ts']
  if (!isAll) flags.push(`--tags-filter=!${SLOW_TAG}`)
  process.env.VITEST_REPORT = report
  process.env.TEST_TIER = isAll ? 'all' : 'first'
  // Hundreds of processes of node load the same programs.
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
 * What failed in a file: its tests, else the file itself.
 *
 * @param {FileReport} file
 * @returns {string[]} a line each
 */
export function faultsOf({ path, failed, isBroken }) {
  return isBroken ? [path] : failed.map((name) => `${path} > ${name}`)
}
