// npm test: installs what is missing, prepares the test stand once, builds, runs every suite. Further arguments go to
// vitest: npm test -- --project api, npm test -- test/unit/archive.test.ts.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureTestBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { run, say } from './lib/say.mjs'

/** Suites that run without the test stand. */
const PLAIN_SUITES = ['unit', 'api', 'cli', 'proxy']

run(async () => {
  const args = process.argv.slice(2)
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(await missingPackages(node), { mayInstall: true })
  if (needsStand(args))
    await onTerminal(node, ['test/stand/prepare.ts'], 'the test stand could not be prepared')
  await ensureTestBuild(node)
  process.exit(await runVitest(node, args))
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
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
async function runVitest(node, args) {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-results-'))
  const results = join(folder, 'results.json')
  const reporters = [
    '--reporter=default',
    '--reporter=./test/support/second-tries.ts',
    '--reporter=json',
    `--outputFile.json=${results}`,
  ]
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const code = await onTerminal(node, [vitest, 'run', ...reporters, ...args])
  if (existsSync(results)) {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(results, 'utf8'),
    )
    const broken = testResults.filter(isBroken)
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''
    process.stdout.write(`\n${numPassedTests} passed, ${numFailedTests + broken.length} failed${skipped}\n`)
  }
  rmSync(folder, { recursive: true, force: true })
  return code
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
 * Whether a file failed before any of its tests ran.
 *
 * @param {{ status: string, assertionResults: unknown[] }} file
 */
function isBroken({ status, assertionResults }) {
  return status === 'failed' && assertionResults.length === 0
}
