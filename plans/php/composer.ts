import { BuildFailure } from '../source/failure.ts'
import { isRecord, textsOf } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'

/** What the plan needs to know of a composer.json. */
export interface Composer {
  hasLock: boolean
  requires: Record<string, string>
  /** The extensions that it, and the packages of its lock file, require. */
  extensions: string[]
  /** The packages of its lock file. */
  locked: LockedPackage[]
  /** The PHP version for which it resolves packages, whatever runs it (`config.platform`). */
  isForPlatform: boolean
  /** `extra`, where some packages keep the document root. */
  extra: Record<string, unknown>
  /** Folders of the tree that packages come from. */
  hasLocalPackages: boolean
}

/** A package as a lock file lists it. */
export interface LockedPackage {
  name: string
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
  const repositories = Object.values(
    isRecord(manifest.repositories) || Array.isArray(manifest.repositories) ? manifest.repositories : {},
  )
  const lock = await tree.readText('composer.lock', MAX_LOCK_BYTES)
  const requires = textsOf(manifest.require)
  const locked = lockedPackages(lock)
  const platform = isRecord(manifest.config) ? manifest.config.platform : undefined
  return {
    hasLock: lock !== null,
    requires,
    extensions: [...new Set([requires, ...locked.map((each) => each.requires)].flatMap(extensionsIn))],
    locked,
    isForPlatform: isRecord(platform) && typeof platform.php === 'string',
    extra: isRecord(manifest.extra) ? manifest.extra : {},
    hasLocalPackages: repositories.some((each) => isRecord(each) && each.type === 'path'),
  }
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
  return packages.filter(isRecord).map(({ name, version, require }) => ({
    name: typeof name === 'string' ? name : '',
    version: typeof version === 'string' ? version : '',
    requires: textsOf(require),
  }))
}

function extensionsIn(requires: Record<string, string>): string[] {
  return Object.keys(requires)
    .filter((name) => name.startsWith('ext-'))
    .map((name) => name.slice('ext-'.length))
}
