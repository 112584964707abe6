import { BuildFailure } from '../source/failure.ts'
import { isRecord, textsOf } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'

/** What the plan needs to know of a composer.json. */
export interface Composer {
  requires: Record<string, string>
  /** The extensions that it, and the packages of its lock file, require. */
  extensions: string[]
  /** The packages of its lock file. */
  locked: LockedPackage[]
  /** The PHP version for which it resolves packages, whatever runs it (`config.platform`). */
  isForPlatform: boolean
  /** `extra`, where some packages keep the document root. */
  extra: Record<string, unknown>
  /** Whether an installation may read more of the tree than composer.json and its lock file. */
  readsTree: boolean
}

/** A package as a lock file lists it. */
export interface LockedPackage {
  name: string
  /** `library`, unless it says so. */
  type: string
  version: string
  requires: Record<string, string>
}

/** Reads the composer.json of a tree; null without one. Throws BuildFailure when it cannot be read. */
export async function readComposer(tree: Tree): Promise<Composer | null> {
  const text = await tree.readText('composer.json')
  if (text === null) return null
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch (cause) {
    throw new BuildFailure(`composer.json is not valid JSON (${(cause as Error).message}): correct it`, {
      cause,
    })
  }
  if (!isRecord(manifest)) throw new BuildFailure('composer.json is not a valid JSON object: correct it')
  const lock = await tree.readText('composer.lock', MAX_LOCK_BYTES)
  const requires = textsOf(manifest.require)
  const locked = lockedPackages(lock)
  const platform = isRecord(manifest.config) ? manifest.config.platform : undefined
  return {
    requires,
    extensions: [...new Set([requires, ...locked.map((each) => each.requires)].flatMap(extensionsIn))],
    locked,
    isForPlatform: isRecord(platform) && typeof platform.php === 'string',
    extra: isRecord(manifest.extra) ? manifest.extra : {},
    readsTree: lock === null || (await tree.hasFile('auth.json')) || readsTree(manifest, locked),
  }
}

/** Addresses that are the same from everywhere. */
const ADDRESS = /^(?:https?|ssh|git):\/\/|^git@/

/**
 * Plugins run while packages are installed, such as one that patches them with files of the tree; repositories may be
 * folders; scripts may belong to single packages; and packages in another folder may mix with what the tree has there.
 */
function readsTree(manifest: Record<string, unknown>, locked: readonly LockedPackage[]): boolean {
  const { repositories, scripts, config } = manifest
  const places = Object.values(isRecord(repositories) || Array.isArray(repositories) ? repositories : {})
  const isElsewhere = (each: unknown): boolean =>
    isRecord(each) && !(typeof each.url === 'string' && ADDRESS.test(each.url))
  return (
    locked.some(({ type }) => type === 'composer-plugin') ||
    places.some(isElsewhere) ||
    Object.keys(isRecord(scripts) ? scripts : {}).some((name) => /^(?:pre|post)-package-/.test(name)) ||
    (isRecord(config) && ['vendor-dir', 'bin-dir'].some((name) => name in config))
  )
}

/** The largest lock file that is read; large projects have some megabytes. */
const MAX_LOCK_BYTES = 16 * 1024 * 1024

/** Returns the packages of a lock file; an invalid one is left for Composer to reject. */
function lockedPackages(lock: string | null): LockedPackage[] {
  let value: unknown
  try {
    value = JSON.parse(lock ?? '')
  } catch {
    return []
  }
  const packages = isRecord(value) && Array.isArray(value.packages) ? value.packages : []
  return packages.filter(isRecord).map(({ name, type, version, require }) => ({
    name: typeof name === 'string' ? name : '',
    type: typeof type === 'string' ? type : '',
    version: typeof version === 'string' ? version : '',
    requires: textsOf(require),
  }))
}

function extensionsIn(requires: Record<string, string>): string[] {
  return Object.keys(requires)
    .filter((name) => name.startsWith('ext-'))
    .map((name) => name.slice('ext-'.length))
}
