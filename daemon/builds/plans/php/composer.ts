import semver from 'semver'
import type { Tree } from '../../../sources/tree.ts'
import { BuildFailure } from '../../failure.ts'
import { PHP_VERSIONS } from '../base-images.ts'
import { isRecord, textsOf } from '../json.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from '../pins.ts'
import { rangeOf } from '../ranges.ts'

/** What the plan needs of a composer.json. */
export interface Composer {
  hasLock: boolean
  requires: Record<string, string>
  /** The extensions that it requires, and that the packages of its lock file do. */
  extensions: string[]
  /** `extra`, where some packages keep the folder that is served. */
  extra: Record<string, unknown>
  /** Folders of the tree that packages come from. */
  hasLocalPackages: boolean
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
  return {
    hasLock: lock !== null,
    requires,
    extensions: [...new Set([requires, ...lockedRequirements(lock)].flatMap(extensionsIn))],
    extra: isRecord(manifest.extra) ? manifest.extra : {},
    hasLocalPackages: repositories.some((each) => isRecord(each) && each.type === 'path'),
  }
}

/** Those of large projects have some megabytes. */
const MAX_LOCK_BYTES = 16 * 1024 * 1024

/** What each package of a lock file requires; a broken file is Composer's to refuse. */
function lockedRequirements(lock: string | null): Record<string, string>[] {
  let value: unknown
  try {
    value = JSON.parse(lock ?? '')
  } catch {
    return []
  }
  const packages = isRecord(value) && Array.isArray(value.packages) ? value.packages : []
  return packages.filter(isRecord).map((each) => textsOf(each.require))
}

function extensionsIn(requires: Record<string, string>): string[] {
  return Object.keys(requires)
    .filter((name) => name.startsWith('ext-'))
    .map((name) => name.slice('ext-'.length))
}

/** Of a constraint, in a note. */
const SHOWN_CHARACTERS = 100

/** Composer's constraints are semver's, but for the signs between alternatives and between parts. Throws BuildFailure for a version that cannot be had. */
export async function choosePhpVersion(
  tree: Tree,
  composer: Composer | null,
  notes: string[],
): Promise<string> {
  const pin = await firstPin([
    inFiles(tree, ['.php-version']),
    inToolFiles(tree, ['php']),
    inManifest(composer?.requires.php, 'composer.json'),
  ])
  if (pin === null) return PHP_VERSIONS[0]!
  const text = pin.text.slice(0, SHOWN_CHARACTERS)
  const range = rangeOf(pin.text.replaceAll(',', ' ').replaceAll(/\|+/g, '||'))
  if (range === null) {
    notes.push(
      `${pin.where} asks for php ${JSON.stringify(text)}, which is no constraint: taking ${PHP_VERSIONS[0]!}`,
    )
    return PHP_VERSIONS[0]!
  }
  const suiting = PHP_VERSIONS.find((version) => semver.intersects(range, `${version}.x`))
  if (suiting !== undefined) {
    notes.push(`php ${suiting} by ${pin.where} (${text})`)
    return suiting
  }
  throw new BuildFailure(
    `${pin.where} asks for php ${JSON.stringify(text)}, and there is no base image near it: write one of ${PHP_VERSIONS.toSorted().join(', ')}`,
  )
}
