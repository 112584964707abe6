import semver from 'semver'
import { parsedJson } from '#server/parsed-json.ts'
import { isRecord, textsOf } from '../../json.ts'
import { rangeOf } from '../../ranges.ts'
import type { Manifests } from '../manifest.ts'

/** A package as the lock file has it, by the folder that it is installed to. */
interface Locked {
  version: string | null
  /** What it needs to be there, and does not bring itself. */
  needs: string[]
  /** What it wants whoever takes it to bring. */
  peers: string[]
  /** Another folder of the tree, which it stands for. */
  link: string | null
}

/**
 * What package-lock.json lacks for `npm ci`, which takes no file that `npm install` would write otherwise; null for
 * nothing. Since npm 7 the file has every folder, so that what a package sees is told from it alone (npm,
 * package-lock.json).
 */
export function gapOfNpm(text: string, manifests: Manifests): string | null {
  const lock = parsedJson(text)
  if (!isRecord(lock)) return 'it is no JSON object'
  if (!isRecord(lock.packages))
    return isRecord(lock.dependencies) ? gapOfOld(lock.dependencies, manifests) : null
  const packages = packagesOf(lock.packages)
  for (const [folder, { dependencies }] of manifests) {
    for (const [name, range] of Object.entries(dependencies)) {
      const gap = gapOf(name, range, find(packages, folder, name))
      if (gap !== null) return gap
    }
  }
  const missing = missingOf(packages, ({ needs }) => needs)
  return missing === null ? null : `it lacks ${missing.name}, which ${missing.by} needs`
}

/**
 * Whether package-lock.json was written with `--legacy-peer-deps`: a package's peers are missing, which npm adds since
 * version 7, or refuses with ERESOLVE.
 */
export function isWithoutPeers(text: string): boolean {
  const lock = parsedJson(text)
  if (!isRecord(lock) || !isRecord(lock.packages)) return false
  return missingOf(packagesOf(lock.packages), ({ peers }) => peers) !== null
}

function packagesOf(packages: Record<string, unknown>): Map<string, Locked> {
  return new Map(Object.entries(packages).map(([path, each]) => [path, lockedOf(each)]))
}

/** The first package that another one asks for and does not see. */
function missingOf(
  packages: ReadonlyMap<string, Locked>,
  asks: (locked: Locked) => string[],
): { name: string; by: string } | null {
  for (const [path, locked] of packages) {
    if (!path.includes(FOLDER)) continue
    const name = asks(locked).find((each) => find(packages, path, each) === null)
    if (name !== undefined) return { name, by: nameOf(path) }
  }
  return null
}

/** Until npm 6 the packages stood below each other, each by its name. */
function gapOfOld(locked: Record<string, unknown>, manifests: Manifests): string | null {
  for (const [name, range] of Object.entries(manifests.get('')?.dependencies ?? {})) {
    const each = Object.hasOwn(locked, name) ? locked[name] : undefined
    const gap = gapOf(name, range, each === undefined ? null : lockedOf(each))
    if (gap !== null) return gap
  }
  return null
}

function gapOf(name: string, wanted: string, locked: Locked | null): string | null {
  if (locked === null) return `it lacks ${name}`
  // Tags, addresses and folders are as they are; `*` suits what precedes a release, too.
  const range = wanted === '*' ? null : rangeOf(wanted)
  const { version, link } = locked
  const suits =
    link !== null || range === null || semver.valid(version) === null || semver.satisfies(version!, range)
  return suits ? null : `it has ${name} ${version}, and package.json wants ${wanted}`
}

const FOLDER = 'node_modules/'

function lockedOf(value: unknown): Locked {
  const entry = isRecord(value) ? value : {}
  const optional = isRecord(entry.peerDependenciesMeta) ? entry.peerDependenciesMeta : {}
  const peers = Object.keys(textsOf(entry.peerDependencies)).filter((name) => {
    const meta = Object.hasOwn(optional, name) ? optional[name] : undefined
    return !isRecord(meta) || meta.optional !== true
  })
  const bundled = Array.isArray(entry.bundleDependencies) ? entry.bundleDependencies : []
  const isLink = entry.link === true && typeof entry.resolved === 'string'
  return {
    version: typeof entry.version === 'string' ? entry.version : null,
    needs: Object.keys(textsOf(entry.dependencies)).filter((name) => !bundled.includes(name)),
    peers,
    link: isLink ? (entry.resolved as string) : null,
  }
}

/** The package of a name that a folder sees: in its own `node_modules`, else in those above. */
function find(packages: ReadonlyMap<string, Locked>, from: string, name: string): Locked | null {
  for (let folder = from; ; folder = parentOf(folder)) {
    const found = packages.get(folder === '' ? `${FOLDER}${name}` : `${folder}/${FOLDER}${name}`)
    if (found !== undefined) return found
    if (folder === '') return null
  }
}

/** The next folder above that can have a `node_modules`. */
function parentOf(folder: string): string {
  const inner = folder.lastIndexOf(`/${FOLDER}`)
  if (inner !== -1) return folder.slice(0, inner)
  return folder.startsWith(FOLDER) ? '' : folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)
}
