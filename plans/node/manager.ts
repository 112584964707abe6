import semver from 'semver'
import { firstPin, inManifest, inToolFiles } from '../pins.ts'
import { rangeOf } from '../ranges.ts'
import { BuildFailure } from '../source/failure.ts'
import { findInLines, hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { INSTALL_SCRIPTS } from './installation.ts'
import { MAX_LOCK_BYTES } from './locks/limits.ts'
import { readLock, type LockState } from './locks/read.ts'
import { BUN_PACKAGE, bunManager, npm, pnpm, yarn, yarnClassic, type PackageManager } from './managers.ts'
import type { Manifest, Manifests } from './manifest.ts'
import { wordsOf } from './scripts.ts'
import { chooseBunVersion } from './version.ts'

/** Used where the tree names no version; each still reads the lock files of its predecessors. */
const PNPM_BY_LOCK: Record<string, string> = { '5': '7', '6': '8' }
const PNPM_VERSION = '10'
/** For a range that several major versions satisfy. */
const PNPM_MAJORS = [10, 9, 8, 7, 11]
const YARN_CLASSIC_VERSION = '1.22.22'
const YARN_VERSION = '4'
/** By the format of its file, which the next major version would rewrite. */
const YARN_BY_LOCK: Record<string, string> = { '4': '2', '5': '3', '6': '3' }
const YARN_MAJORS = [1, 4, 3, 2]

/** Bun as the installer of a tree's packages. */
export async function chooseBun(tree: Tree, manifests: Manifests, notes: string[]): Promise<PackageManager> {
  return bunManager(await readLock(tree, 'bun', manifests, notes), null)
}

/** Returns the package manager that package.json names, else that of the lock file, else npm. */
export async function choosePackageManager(
  tree: Tree,
  manifests: Manifests,
  notes: string[],
): Promise<PackageManager> {
  const manifest = manifests.get('')!
  const named = manifest.packageManager === null ? null : readField(manifest.packageManager)
  const name =
    named?.name ?? (await nameByLock(tree)) ?? nameByEngines(manifest) ?? (await nameLeft(tree, manifests))
  const version = named?.version ?? (await pinnedVersion(tree, manifest, name))
  const lock = await readLock(tree, name, manifests, notes)
  if (name === 'pnpm') return pnpm(version ?? (await pnpmVersion(tree)), lock)
  if (name === 'yarn') return await chooseYarn(tree, version, lock)
  if (name === 'bun') {
    const bunVersion = await chooseBunVersion([{ tree, manifest }], notes)
    return bunManager(lock, `${BUN_PACKAGE}@${bunVersion ?? '1'}`)
  }
  if (lock === 'none')
    notes.push('there is no lock file: each build takes the newest packages that package.json allows')
  return npm(lock)
}

/** The npm packages of managers that a script may call besides the project's own; node's images may lack them. */
const OTHERS: Record<string, string> = {
  pnpm: `pnpm@${PNPM_VERSION}`,
  yarn: `yarn@${YARN_CLASSIC_VERSION}`,
  bun: BUN_PACKAGE,
}

/**
 * Returns the npm packages of the managers that commands call, also through scripts, other than npm: the project's own, in
 * its version, and others.
 */
export function managersCalled(
  commands: readonly string[],
  scripts: Record<string, string>,
  own: PackageManager,
): string[] {
  const called = new Set<string>()
  for (const text of commands.flatMap((command) => [command, ...wordsOf(command, scripts)])) {
    for (const [, name] of text.matchAll(/\b(pnpm|yarn|bun)x?\b/g)) called.add(name!)
  }
  return [...called]
    .map((name) => (name === own.name ? own.globalPackage : OTHERS[name]!))
    .filter((name) => name !== null)
}

/** Returns the npm packages of the managers that install and build a project with these manifests, the root's first. */
export function managersOfBuild(
  own: PackageManager,
  manifests: readonly [Manifest, Manifest],
  buildCommand: string | null,
): string[] {
  const scripts = { ...manifests[0].scripts, ...manifests[1].scripts }
  const installing = INSTALL_SCRIPTS.map((name) => manifests[0].scripts[name] ?? '')
  const called = managersCalled([...installing, buildCommand ?? ''], scripts, own)
  return [...new Set([...(own.globalPackage === null ? [] : [own.globalPackage]), ...called])]
}

async function hasAny(tree: Tree, names: string[]): Promise<boolean> {
  for (const name of names) if (await tree.hasFile(name)) return true
  return false
}

/** Corepack's form: name@version, with a hash after a plus sign. A partial version counts as a range. */
function readField(field: string): { name: string; version: string | null } {
  const [, name, version] = /^(npm|pnpm|yarn|bun)(?:@(\d[\w.-]*)(?:\+[\w.]+)?)?$/.exec(field) ?? []
  if (name === undefined) {
    throw new BuildFailure(
      `packageManager of package.json says ${JSON.stringify(field.slice(0, 100))}: write npm, pnpm, yarn or bun with a version, such as pnpm@10.0.0`,
    )
  }
  return { name, version: version ?? null }
}

function nameByEngines({ devEngines, engines }: Manifest): string | null {
  return devEngines.packageManager?.name ?? ['pnpm', 'yarn'].find((name) => name in engines) ?? null
}

async function nameByLock(tree: Tree): Promise<string | null> {
  if (await tree.hasFile('pnpm-lock.yaml')) return 'pnpm'
  if (await tree.hasFile('yarn.lock')) return 'yarn'
  return (await hasAny(tree, ['package-lock.json', 'npm-shrinkwrap.json'])) ? 'npm' : null
}

/**
 * Returns the manager where at most a lock file of Bun is left. Next to another lock file it comes from a trial; alone in a
 * workspace it shows what installs that, since npm does not understand `workspace:`; any other tree is installed by npm.
 */
async function nameLeft(tree: Tree, manifests: Manifests): Promise<string> {
  return manifests.size > 1 && (await hasAny(tree, ['bun.lock', 'bun.lockb'])) ? 'bun' : 'npm'
}

/** Returns what Volta, `devEngines`, `engines` and the files of asdf and mise say about the manager. */
async function pinnedVersion(tree: Tree, manifest: Manifest, name: string): Promise<string | null> {
  const wanted = manifest.devEngines.packageManager
  const pin = await firstPin([
    inToolFiles(tree, [name]),
    inManifest(manifest.volta[name], 'volta'),
    inManifest(wanted?.name === name ? wanted.version : null, 'devEngines'),
    inManifest(manifest.engines[name], 'engines'),
  ])
  if (pin === null) return null
  if (semver.valid(pin.text) !== null) return semver.valid(pin.text)
  const range = rangeOf(pin.text)
  // Among the major versions in a range, the one that wrote the lock file: the next one refuses it.
  const majors = name === 'yarn' ? YARN_MAJORS : [Number(await pnpmVersion(tree)), ...PNPM_MAJORS]
  const major = range === null ? undefined : majors.find((each) => semver.intersects(range, `${each}.x`))
  return major === undefined ? null : String(major)
}

async function pnpmVersion(tree: Tree): Promise<string> {
  const lock = (await tree.readText('pnpm-lock.yaml', MAX_LOCK_BYTES)) ?? ''
  const format = findInLines(lock, /^lockfileVersion: ['"]?(\d+)/)
  return PNPM_BY_LOCK[format ?? ''] ?? PNPM_VERSION
}

async function chooseYarn(tree: Tree, version: string | null, lock: LockState): Promise<PackageManager> {
  const text = await tree.readText('yarn.lock', MAX_LOCK_BYTES)
  const major = semver.coerce(version)?.major
  // Yarn writes `__metadata` into its lock file since version 2.
  const isModern =
    major === undefined
      ? (await tree.hasFile('.yarnrc.yml')) || hasLine(text ?? '', /^__metadata:/)
      : major >= 2
  const format = findInLines(text ?? '', /^  version: (\d+)$/)
  return isModern
    ? yarn(version ?? YARN_BY_LOCK[format ?? ''] ?? YARN_VERSION, lock)
    : yarnClassic(major === undefined || version === '1' ? YARN_CLASSIC_VERSION : version!, lock)
}
