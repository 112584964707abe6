import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, clip, findCommand } from './command.mjs'
import { ROOT } from './paths.mjs'
import { Refusal, say } from './say.mjs'

/** The oldest node with everything that the server uses (crypto.argon2); the same as `engines` in package.json. */
const OLDEST_NODE = [24, 7]

/** @typedef {{ version?: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[], engines?: unknown }} Package */

/**
 * Installs the npm dependencies, unless exactly those in package-lock.json are already installed.
 *
 * @param {{ mayInstall: boolean }} options
 */
export async function ensureDependencies({ mayInstall }) {
  if (dependenciesInstalled()) return
  if (!mayInstall)
    throw new Refusal('the npm dependencies are not installed: run npm ci, or omit --no-install')
  say('installing the npm dependencies')
  const folder = join(ROOT, '.cache/install')
  try {
    prepareInstall(folder)
    // npm tells its scripts where it is; another npm on the path may be of another version.
    const npm = process.env.npm_execpath
    const [file, ...before] = npm ? [process.execPath, npm] : [findCommand('npm') ?? 'npm']
    const { code, output } = await capture(file, [...before, 'ci', '--include=dev'], { cwd: folder })
    if (code !== 0) throw new Refusal(`npm ci failed:\n${clip(output)}`)
    const installed = join(ROOT, 'node_modules')
    if (existsSync(installed)) renameSync(installed, join(folder, 'old'))
    renameSync(join(folder, 'node_modules'), installed)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Prepares a folder to install in, whose lock file does not say which node each package needs. npm would skip optional
 * packages that need a newer node than its own, although the newer node that runs everything is one of them.
 *
 * @param {string} folder
 */
function prepareInstall(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', '.npmrc']) copyFileSync(join(ROOT, name), join(folder, name))
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  for (const [path, entry] of Object.entries(lock.packages)) if (path !== '') delete entry.engines
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
}

/** Compares package-lock.json with npm's list of what it has installed. */
function dependenciesInstalled() {
  const installed = join(ROOT, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const has = packagesOf(installed)
  return Object.entries(packagesOf(join(ROOT, 'package-lock.json'))).every(([path, wanted]) => {
    if (path === '') return true
    if (path in has) return has[path]?.version === wanted.version
    return wanted.optional === true && !isForThisMachine(wanted)
  })
}

/**
 * Whether an optional package, such as the binary of a compiler, is the one for this system and processor.
 *
 * @param {Package} wanted
 */
function isForThisMachine({ os, cpu, libc }) {
  if (!os?.includes(process.platform) || !cpu?.includes(process.arch)) return false
  return libc === undefined || libc.includes(systemLibrary())
}

function systemLibrary() {
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  return report.header.glibcVersionRuntime ? 'glibc' : 'musl'
}

/**
 * @param {string} file
 * @returns {Record<string, Package>}
 */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/**
 * Returns the node that runs the server: this one if it is new enough, else the one that npm has installed.
 *
 * @returns {string} its file; a system library that it needs may still be missing
 */
export function findNode() {
  if (isNewEnough(process.version)) return process.execPath
  const brought = join(ROOT, `node_modules/node-linux-${process.arch}/bin/node`)
  if (existsSync(brought)) return brought
  throw new Refusal(
    `node ${process.version} is too old and npm has none for ${process.platform} ${process.arch}: ` +
      `install node ${OLDEST_NODE.join('.')} or newer`,
  )
}

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}
