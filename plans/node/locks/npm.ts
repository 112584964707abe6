import { posix } from 'node:path'
import semver from 'semver'
import { rangeOf } from '../../ranges.ts'
import { isRecord, parsedJson, textsOf } from '../../source/json.ts'
import type { Manifests } from '../manifest.ts'
import { overriddenIn } from './importers.ts'

/** A package as the lock file lists it, by the folder in which it is installed. */
interface Locked {
  version: string | null
  /** Its dependencies, except those that it bundles. */
  needs: string[]
  /** Its peer dependencies, with their ranges. */
  peers: Record<string, string>
  /** Whether it is installed only as a peer of others. */
  isPeer: boolean
  /** The folder of the tree to which it is a link. */
  link: string | null
}

/**
 * Returns what package-lock.json lacks for `npm ci`, which refuses a file that `npm install` would write differently; null
 * for nothing. Since npm 7 the file lists every folder, so it alone tells what each package can resolve (npm,
 * package-lock.json).
 */
export function gapOfNpm(text: string, manifests: Manifests): string | null {
  const lock = parsedJson(text)
  if (!isRecord(lock)) return 'it is not a JSON object'
  if (!isRecord(lock.packages))
    return isRecord(lock.dependencies) ? gapOfOld(lock.dependencies, manifests) : null
  const packages = packagesOf(lock.packages)
  for (const [folder, { dependencies }] of manifests) {
    const seen = seenFrom(packages, folder)
    for (const [name, range] of Object.entries(dependencies)) {
      const gap = gapOf(name, range, find(seen, name))
      if (gap !== null) return gap
    }
  }
  const missing = missingOf(packages, ({ needs }) => needs)
  return missing === null ? null : `it lacks ${missing.name}, which ${missing.by} needs`
}

/**
 * Whether package-lock.json was written with `--legacy-peer-deps`: peers of a package are missing, which npm installs since
 * version 7, or have versions that it refuses with ERESOLVE.
 */
export function isWithoutPeers(text: string, manifests: Manifests): boolean {
  const lock = parsedJson(text)
  if (!isRecord(lock) || !isRecord(lock.packages)) return false
  const packages = packagesOf(lock.packages)
  if (missingOf(packages, ({ peers }) => Object.keys(peers)) !== null) return true
  const all = [...eachOf(packages)]
  // Deep in the tree npm accepts some that do not match. A file to which it added peers would lose them.
  if (all.some(({ locked }) => locked.isPeer)) return false
  const overridden = overriddenIn(manifests.get(''))
  return all.some(({ locked, path }) => {
    const peers = Object.entries(locked.peers).filter(([name]) => !overridden.has(name))
    const seen = peers.length === 0 ? [] : seenFrom(packages, path)
    return peers.some(([name, range]) => gapOf(name, range, find(seen, name)) !== null)
  })
}

/** The longest path on Linux (limits.h, PATH_MAX). */
const MAX_PATH_CHARACTERS = 4_096

/** Packages by name, by the folder whose `node_modules` has them. */
type Packages = ReadonlyMap<string, ReadonlyMap<string, Locked>>

function packagesOf(entries: Record<string, unknown>): Packages {
  const packages = new Map<string, Map<string, Locked>>()
  for (const [path, each] of Object.entries(entries)) {
    const at = path.length > MAX_PATH_CHARACTERS ? -1 : `/${path}`.lastIndexOf(`/${FOLDER}`)
    if (at === -1) continue
    const folder = path.slice(0, Math.max(0, at - 1))
    const held = packages.get(folder) ?? new Map<string, Locked>()
    packages.set(folder, held.set(path.slice(at + FOLDER.length), lockedOf(each)))
  }
  return packages
}

function* eachOf(packages: Packages): Generator<{ path: string; name: string; locked: Locked }> {
  for (const [folder, held] of packages) {
    for (const [name, locked] of held) yield { path: posix.join(folder, FOLDER, name), name, locked }
  }
}

/** Returns the first package that another one needs and cannot resolve. */
function missingOf(
  packages: Packages,
  asks: (locked: Locked) => string[],
): { name: string; by: string } | null {
  for (const { path, name: by, locked } of eachOf(packages)) {
    const asked = asks(locked)
    const seen = asked.length === 0 ? [] : seenFrom(packages, path)
    const name = asked.find((each) => find(seen, each) === null)
    if (name !== undefined) return { name, by }
  }
  return null
}

/** Up to npm 6 the packages are nested below each other, by name. */
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
  // Tags, addresses and folders match as they are; `*` also matches prereleases.
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
  const wanted = Object.entries(textsOf(entry.peerDependencies)).filter(([name]) => {
    const meta = Object.hasOwn(optional, name) ? optional[name] : undefined
    return !isRecord(meta) || meta.optional !== true
  })
  const bundled = Array.isArray(entry.bundleDependencies) ? entry.bundleDependencies : []
  const isLink = entry.link === true && typeof entry.resolved === 'string'
  return {
    version: typeof entry.version === 'string' ? entry.version : null,
    needs: Object.keys(textsOf(entry.dependencies)).filter((name) => !bundled.includes(name)),
    // Bundled packages are as the package has them.
    peers: entry.inBundle === true ? {} : Object.fromEntries(wanted),
    isPeer: entry.peer === true,
    link: isLink ? (entry.resolved as string) : null,
  }
}

/** Yields the packages that a folder can resolve: in its own `node_modules`, and in those above. */
function seenFrom(packages: Packages, from: string): ReadonlyMap<string, Locked>[] {
  const seen: ReadonlyMap<string, Locked>[] = []
  for (let folder = from; ; folder = parentOf(folder)) {
    const held = packages.get(folder)
    if (held !== undefined) seen.push(held)
    if (folder === '') return seen
  }
}

/** Returns the nearest package of a name. */
function find(seen: readonly ReadonlyMap<string, Locked>[], name: string): Locked | null {
  return seen.find((held) => held.has(name))?.get(name) ?? null
}

/** Returns the next folder above that can have a `node_modules`. */
function parentOf(folder: string): string {
  const inner = folder.lastIndexOf(`/${FOLDER}`)
  if (inner !== -1) return folder.slice(0, inner)
  return folder.startsWith(FOLDER) ? '' : folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
}
