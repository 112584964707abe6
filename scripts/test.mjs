// npm test: installs what is missing, prepares the test stand once, builds, and runs what every change must pass; with
// --all, everything (CONTRIBUTING.md, "Tests"). Other arguments go to vitest: npm test -- --project api, npm test --
// test/unit/archive.test.ts. With --again, files with a failed test are run once more, by themselves, and what fails again
// has failed.
import { ensureTestBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { run, say } from './lib/say.mjs'
import { mustRunOnTerminal } from './lib/terminal.mjs'
import { reportRun } from './lib/test-report.mjs'
import { faultsOf, runVitest } from './lib/vitest.mjs'

/** @typedef {import('./lib/vitest.mjs').RunReport & { code: number }} Run */

/** Suites that run without the test stand. */
const PLAIN_SUITES = ['unit', 'api', 'cli', 'proxy']
const ALL = '--all'
const AGAIN = '--again'
/** If more files fail, it is not by chance. */
const MAX_FILES_AGAIN = 5

run(async () => {
  const began = performance.now()
  const own = process.argv.slice(2)
  const args = own.filter((arg) => arg !== ALL && arg !== AGAIN)
  // A file that is named is run completely.
  const tier = { isAll: own.includes(ALL) || pathsIn(args).length > 0 }
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(await missingPackages(node), { mayInstall: true })
  if (needsStand(args)) {
    await mustRunOnTerminal(node, ['test/stand/prepare.ts'], 'the test stand could not be prepared')
  }
  await ensureTestBuild(node)
  const first = await runVitest(node, args, tier)
  const isAgain = own.includes(AGAIN) && first.files.some((file) => faultsOf(file).length > 0)
  const { code, files, flaky } = isAgain ? await runAgain(node, first, tier) : { ...first, flaky: [] }
  // Without files, vitest ended before its report and has printed the reason.
  if (files.length > 0) {
    reportRun({ args: own, seconds: (performance.now() - began) / 1_000, files, flaky }, tier)
  }
  process.exit(code)
})

/** @param {string[]} args */
function needsStand(args) {
  const named = args.flatMap((arg, at) =>
    arg === '--project' ? [args[at + 1] ?? ''] : arg.split('--project=').slice(1),
  )
  const suites = [...named, ...pathsIn(args).map((path) => path.split('/')[1] ?? '')]
  return (
    suites.length === 0 || !suites.every((suite) => PLAIN_SUITES.includes(suite) || suite.endsWith('.ts'))
  )
}

/** @param {string[]} args */
function pathsIn(args) {
  return args.filter((arg) => arg.startsWith('test/'))
}

/**
 * Runs the failed files once more, completely, since tests of one file share a server. Returns the updated run and what
 * passed only now.
 *
 * @param {string} node
 * @param {Run} first
 * @param {{ isAll: boolean }} tier
 * @returns {Promise<Run & { flaky: string[] }>}
 */
async function runAgain(node, first, tier) {
  const failed = first.files.filter((file) => faultsOf(file).length > 0)
  if (failed.length > MAX_FILES_AGAIN || first.outside > 0) return { ...first, flaky: [] }
  const paths = failed.map(({ path }) => path)
  say(`running the failed files once more: ${paths.join(' ')}`)
  const second = await runVitest(node, paths, tier)
  if (second.files.length === 0) return { ...first, code: second.code, flaky: [] }
  const still = new Set(second.files.flatMap(faultsOf))
  return {
    ...second,
    files: [...first.files.filter(({ path }) => !paths.includes(path)), ...second.files],
    flaky: failed.flatMap(faultsOf).filter((fault) => !still.has(fault)),
  }
}
