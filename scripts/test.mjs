// npm test: installs what is missing, prepares the test stand once, builds, runs every suite. Further arguments go to
// vitest: npm test -- --project api, npm test -- test/unit/archive.test.ts. With --again the files in which something failed
// are run once more, by themselves, and what fails then has failed.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { ensureTestBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { run, say } from './lib/say.mjs'

/** Suites that run without the test stand. */
const PLAIN_SUITES = ['unit', 'api', 'cli', 'proxy']
const AGAIN = '--again'
/** More have not failed by chance. */
const MAX_FILES_AGAIN = 5

run(async () => {
  const args = process.argv.slice(2).filter((arg) => arg !== AGAIN)
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(await missingPackages(node), { mayInstall: true })
  if (needsStand(args))
    await onTerminal(node, ['test/stand/prepare.ts'], 'the test stand could not be prepared')
  await ensureTestBuild(node)
  const first = await runVitest(node, args)
  const isAgain = process.argv.includes(AGAIN) && first.failed.length > 0
  const { code, files } = isAgain ? await runAgain(node, first) : first
  tellCounts(files)
  process.exit(code)
})

/** @param {string[]} args */
function needsStand(args) {
  const named = args.flatMap((arg, at) =>
    arg === '--project' ? [args[at + 1] ?? ''] : arg.split('--project=').slice(1),
  )
  const paths = args.filter((arg) => arg.startsWith('test/')).map((path) => path.split('/')[1] ?? '')
  const suites = [...named, ...paths]
  return (
    suites.length === 0 || !suites.every((suite) => PLAIN_SUITES.includes(suite) || suite.endsWith('.ts'))
  )
}

/**
 * A run of vitest: its exit code, what its report says of each file, which files failed, and how many errors came outside
 * of tests, of which the report says nothing.
 *
 * @typedef {{ status: string, fullName: string }} TestResult
 * @typedef {{ name: string, status: string, assertionResults: TestResult[] }} FileResult
 * @typedef {{ code: number, files: FileResult[], failed: FileResult[], outside: number }} Run
 */

/**
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<Run>}
 */
async function runVitest(node, args) {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-results-'))
  const results = join(folder, 'results.json')
  const errors = join(folder, 'errors.json')
  const reporters = ['default', 'json', './test/support/errors-outside.ts'].map(
    (name) => `--reporter=${name}`,
  )
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  process.env.VITEST_ERRORS_FILE = errors
  const code = await onTerminal(node, [vitest, 'run', ...reporters, `--outputFile.json=${results}`, ...args])
  /** @type {FileResult[]} */
  const files = read(results)?.testResults ?? []
  const failed = files.filter(({ status }) => status === 'failed')
  const outside = read(errors) ?? 0
  rmSync(folder, { recursive: true, force: true })
  return { code, files, failed, outside }
}

/**
 * Runs the files that failed once more, whole, since tests of one file share a server; answers the run as it stands then.
 * What passed only now errs by chance and is named.
 *
 * @param {string} node
 * @param {Run} first
 * @returns {Promise<Run>}
 */
async function runAgain(node, first) {
  if (first.failed.length > MAX_FILES_AGAIN || first.outside > 0) return first
  const names = first.failed.map(({ name }) => relative(ROOT, name))
  say(`what failed is run once more: ${names.join(' ')}`)
  const second = await runVitest(node, names)
  if (second.files.length === 0) return { ...first, code: second.code }
  const failed = new Set(second.files.flatMap(faultsOf))
  const chance = first.failed.flatMap(faultsOf).filter((fault) => !failed.has(fault))
  if (chance.length > 0) say(`passed only when run again, and must be mended:\n${chance.join('\n')}`)
  return {
    ...second,
    files: [...first.files.filter((file) => !first.failed.includes(file)), ...second.files],
  }
}

/**
 * What failed in a file: its tests, else the file itself, as when a hook did.
 *
 * @param {FileResult} file
 * @returns {string[]} a line each
 */
function faultsOf(file) {
  const name = relative(ROOT, file.name)
  if (isBroken(file)) return [`  ${name}`]
  return file.assertionResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName }) => `  ${name} > ${fullName}`)
}

/**
 * @param {FileResult[]} files none when vitest did not come to its report, which it has said
 */
function tellCounts(files) {
  if (files.length === 0) return
  const tests = files.flatMap(({ assertionResults }) => assertionResults)
  const count = (/** @type {string[]} */ ...states) =>
    tests.filter(({ status }) => states.includes(status)).length
  const failed = count('failed') + files.filter(isBroken).length
  const skipped = count('pending', 'skipped')
  process.stdout.write(
    `\n${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  )
}

/**
 * Runs a program on this terminal. With `failure` it must succeed.
 *
 * @param {string} node
 * @param {string[]} args
 * @param {string} [failure] what its failure means
 * @returns {Promise<number>} the exit code
 */
function onTerminal(node, args, failure) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { cwd: ROOT, stdio: 'inherit' })
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
      process.once(signal, () => process.stdin.isTTY || child.kill(signal))
    }
    child.on('error', reject)
    child.on('exit', (code) => {
      if (code !== 0 && failure) {
        say(failure)
        process.exit(1)
      }
      resolve(code ?? 1)
    })
  })
}

/**
 * Whether a file failed, but none of its tests: it cannot be read, or one of its hooks failed.
 *
 * @param {FileResult} file
 */
function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

/**
 * What a file of JSON holds; null when it is not there.
 *
 * @param {string} path
 */
function read(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}
