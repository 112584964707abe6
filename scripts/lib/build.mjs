import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { capture, clip } from './command.mjs'
import { ROOT } from './paths.mjs'
import { Refusal, say } from './say.mjs'

/** Everything that a build depends on. */
export const SOURCES = [
  'agent',
  'cli',
  'daemon',
  'dashboard',
  'docs/skill',
  'mcp',
  'modules',
  'plans',
  'preset',
  'proxy',
  'public',
  'routes',
  'samples',
  'server',
  'scripts/lib/nitro-build.mjs',
  'nitro.config.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** Builds for test suites, named by a hash of the sources, so that a running suite keeps its own. */
const TEST_BUILDS = join(ROOT, '.cache/builds')
const TEST_BUILDS_KEPT = 3

/**
 * Builds the server into `directory` unless it already has a build of exactly these sources.
 *
 * @param {string} node the node that builds
 * @param {string} [directory]
 * @returns {Promise<string>} the file to run
 */
export async function ensureBuild(node, directory = join(ROOT, '.output')) {
  const entry = join(directory, 'server/index.mjs')
  const stamp = join(directory, 'sources')
  const sources = hashSources()
  if (existsSync(entry) && existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return entry
  const began = performance.now()
  say('building')
  const fresh = `${directory}.${process.pid}`
  try {
    await build(node, fresh)
    writeFileSync(join(fresh, 'sources'), sources)
    replace(directory, fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  say(`built in ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return entry
}

/**
 * Builds for tests into a folder that no later build changes.
 *
 * @param {string} node
 * @returns {Promise<string>} the file to run
 */
export async function ensureTestBuild(node) {
  mkdirSync(TEST_BUILDS, { recursive: true })
  const directory = join(TEST_BUILDS, hashSources().slice(0, 16))
  const entry = await ensureBuild(node, directory)
  const others = readdirSync(TEST_BUILDS, { withFileTypes: true }).filter((item) =>
    /^[0-9a-f]{16}$/.test(item.name),
  )
  const byAge = others.map(({ name }) => ({ name, at: lastBuilt(name) })).sort((a, b) => b.at - a.at)
  for (const { name } of byAge.slice(TEST_BUILDS_KEPT)) {
    if (name !== directory.slice(-16)) rmSync(join(TEST_BUILDS, name), { recursive: true, force: true })
  }
  return entry
}

/** @param {string} name */
function lastBuilt(name) {
  try {
    return statSync(join(TEST_BUILDS, name, 'sources')).mtimeMs
  } catch {
    return 0
  }
}

/**
 * @param {string} node
 * @param {string} directory
 */
async function build(node, directory) {
  const script = join(ROOT, 'scripts/lib/nitro-build.mjs')
  const { code, output } = await capture(node, [script, directory], { cwd: ROOT })
  if (code !== 0) throw new Refusal(`the build failed:\n${clip(output)}`)
}

/**
 * Replaces the last build by a finished one.
 *
 * @param {string} directory
 * @param {string} fresh
 */
function replace(directory, fresh) {
  const old = `${directory}.old.${process.pid}`
  if (existsSync(directory)) renameSync(directory, old)
  renameSync(fresh, directory)
  rmSync(old, { recursive: true, force: true })
}

/** Returns a digest of the names and contents of all sources: some hundred small files, read in well under 100 ms. */
export function hashSources() {
  const hash = createHash('sha256')
  for (const source of SOURCES) addTo(hash, source)
  return hash.digest('hex')
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} path relative to the checkout
 */
function addTo(hash, path) {
  const file = join(ROOT, path)
  if (!existsSync(file)) return
  if (statSync(file).isDirectory()) {
    for (const name of readdirSync(file).sort()) if (name !== 'node_modules') addTo(hash, join(path, name))
    return
  }
  const content = readFileSync(file)
  hash.update(`${path}\0${content.length}\0`).update(content)
}
