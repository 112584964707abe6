import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, findCommand } from './command.mjs'
import { ROOT } from './paths.mjs'
import { Refusal, say } from './say.mjs'

/** The oldest node that has everything the server uses (crypto.argon2); the same as `engines` in package.json. */
const OLDEST_NODE = [24, 7]

/**
 * Installs the npm dependencies unless what is installed is what package-lock.json says.
 *
 * @param {{ mayInstall: boolean }} options
 */
export async function ensureDependencies({ mayInstall }) {
  if (dependenciesInstalled()) return
  if (!mayInstall)
    throw new Refusal('the npm dependencies are not installed: run npm ci, or leave --no-install out')
  say('installing the npm dependencies (npm ci)')
  // npm tells its scripts where it is; another npm on the path may be of another age.
  const npm = process.env.npm_execpath
  const [file, ...before] = npm ? [process.execPath, npm] : [findCommand('npm') ?? 'npm']
  const { code, output } = await capture(
    file,
    [...before, 'ci', '--include=dev', '--no-audit', '--no-fund'],
    { cwd: ROOT },
  )
  if (code !== 0) throw new Refusal(`npm ci failed:\n${output.trim()}`)
}

/** Compares package-lock.json with the list that npm keeps of what it installed. */
function dependenciesInstalled() {
  const installed = join(ROOT, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const has = packagesOf(installed)
  return Object.entries(packagesOf(join(ROOT, 'package-lock.json'))).every(
    // Optional packages are for other platforms too.
    ([path, { version, optional }]) =>
      path === '' || (path in has ? has[path]?.version === version : optional === true),
  )
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean }>}
 */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/**
 * The node that runs the server: this one when it is new enough, else the one that npm brought.
 *
 * @returns {string} its file; it may still lack a library of the system
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
