// npm run check: types, lint and format, in parallel.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './lib/command.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { run, say } from './lib/say.mjs'

const TOOLS = 'node_modules/.bin'

const CHECKS = [
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'] },
  {
    name: 'types of the dashboard',
    command: ['scripts/lib/vue-check.mjs', '-p', 'dashboard/tsconfig.json'],
    needs: 'dashboard/tsconfig.json',
  },
  { name: 'lint', command: [`${TOOLS}/oxlint`] },
  {
    name: 'format',
    command: [`${TOOLS}/prettier`, '--check', '--cache', '--cache-location', '.cache/prettier', '.'],
  },
]

run(async () => {
  await ensureDependencies({ mayInstall: true })
  const node = findNode()
  await installPackages(
    (await missingPackages(node)).filter((name) => name === 'libatomic1'),
    { mayInstall: true },
  )
  const checks = CHECKS.filter(({ needs }) => !needs || existsSync(join(ROOT, needs)))
  const results = await Promise.all(checks.map((check) => perform(check, node)))
  process.exit(results.every(Boolean) ? 0 : 1)
})

/**
 * @param {{ name: string, command: string[] }} check
 * @param {string} node
 */
async function perform({ name, command }, node) {
  const began = performance.now()
  const { code, output } = await capture(node, command, { cwd: ROOT })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  say(`${name}: ${code === 0 ? 'good' : 'FAILED'} (${seconds} s)`)
  if (code !== 0) process.stdout.write(`${output.trim()}\n`)
  return code === 0
}
