import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { capture, clip, findCommand } from '../command.mjs'
import { ATOMICS } from '../packages.mjs'
import { ROOT } from '../paths.mjs'
import { Refusal, say } from '../say.mjs'

/** Processors that a release can be made for. */
export const ARCHITECTURES = ['x64', 'arm64']

/** @typedef {{ program: string, license: string }} NodePackage */
/** @typedef {{ program: string, license: string, libraries: string[], warnings: string[] }} ReleaseNode */

/**
 * The node of the lock file for a processor: the installed one, else npm fetches it.
 *
 * @param {string} arch
 * @param {string} work a folder for what is fetched
 * @returns {Promise<NodePackage>}
 */
export async function nodePackage(arch, work) {
  const name = `node-linux-${arch}`
  const installed = join(ROOT, 'node_modules', name)
  const { version, integrity } = lockedPackage(name)
  const isInstalled = existsSync(join(installed, 'bin/node'))
  const folder =
    isInstalled && versionIn(installed) === version ? installed : await fetch(name, version, integrity, work)
  return { program: join(folder, 'bin/node'), license: join(folder, 'LICENSE') }
}

/** @param {string} folder */
function versionIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}

/** @param {string} name */
function lockedPackage(name) {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  return lock.packages[`node_modules/${name}`]
}

/**
 * @param {string} name
 * @param {string} version
 * @param {string} integrity as in the lock file
 * @param {string} work
 */
async function fetch(name, version, integrity, work) {
  const folder = join(work, 'package')
  if (existsSync(join(folder, 'package.json')) && versionIn(folder) === version) return folder
  say(`fetching ${name} ${version}`)
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  const npm = process.env.npm_execpath
  const [file, ...before] = npm ? [process.execPath, npm] : [findCommand('npm') ?? 'npm']
  const { code, output } = await capture(file, [...before, 'pack', `${name}@${version}`], { cwd: work })
  if (code !== 0) throw new Refusal(`npm pack ${name}@${version} failed:\n${clip(output)}`)
  const packed = join(work, `${name}-${version}.tgz`)
  const sum = `sha512-${createHash('sha512').update(readFileSync(packed)).digest('base64')}`
  if (sum !== integrity) throw new Refusal(`${name} ${version} is not the one in package-lock.json`)
  const unpacked = await capture('tar', ['-xzf', packed, '-C', work])
  if (unpacked.code !== 0) throw new Refusal(`${packed} cannot be unpacked: ${clip(unpacked.output)}`)
  rmSync(packed)
  return folder
}

/**
 * A node that runs where the release is unpacked. Since node 26 it links to libatomic, which a plain Debian does not have, so
 * the library comes with it, and node looks for it in `lib` next to itself.
 *
 * @param {NodePackage} from
 * @param {string} arch
 * @param {string} work
 * @returns {Promise<ReleaseNode>}
 */
export async function runnableNode({ program, license }, arch, work) {
  mkdirSync(work, { recursive: true })
  const patched = join(work, 'node')
  copyFileSync(program, patched)
  chmodSync(patched, 0o755)
  const needed = await patchelf('--print-needed', patched)
  if (!needed.split('\n').includes('libatomic.so.1'))
    return { program: patched, license, libraries: [], warnings: [] }
  const library = arch === process.arch ? ATOMICS.find((file) => existsSync(file)) : undefined
  if (library === undefined) {
    const warning = `the release for ${arch} needs the package libatomic1 where it runs: make it on a machine with such a processor to carry the library`
    return { program: patched, license, libraries: [], warnings: [warning] }
  }
  await patchelf('--set-rpath', '$ORIGIN/lib', patched)
  const copy = join(work, 'libatomic.so.1')
  copyFileSync(realpathSync(library), copy)
  return { program: patched, license, libraries: [copy], warnings: [] }
}

/** @param {string[]} words */
async function patchelf(...words) {
  const { code, output } = await capture('patchelf', words)
  if (code !== 0) throw new Refusal(`patchelf failed: ${clip(output)}`)
  return output
}
