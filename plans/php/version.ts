import semver from 'semver'
import { PHP_VERSIONS } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from '../pins.ts'
import { rangeOf } from '../ranges.ts'
import { BuildFailure } from '../source/failure.ts'
import type { Tree } from '../source/tree.ts'
import type { Composer, LockedPackage } from './composer.ts'

/** The length of a constraint in a note. */
const SHOWN_CHARACTERS = 100

/**
 * Returns the version that a tree pins, else the first that its composer.json, the packages of its lock file and an older
 * framework allow. Throws BuildFailure for one that is not available.
 */
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
  const text = pin?.text.slice(0, SHOWN_CHARACTERS) ?? ''
  const range = pin === null ? null : rangeOfComposer(pin.text)
  if (pin !== null && range === null) {
    notes.push(
      `${pin.where} asks for php ${JSON.stringify(text)}, which is not a version constraint: using ${PHP_VERSIONS[0]!}`,
    )
    return PHP_VERSIONS[0]!
  }
  const suiting = PHP_VERSIONS.filter((version) => range === null || suits(version, range))
  const [first] = suiting
  if (pin !== null && first === undefined) {
    throw new BuildFailure(
      `${pin.where} asks for php ${JSON.stringify(text)}, and there is no base image near it: write one of ${PHP_VERSIONS.toSorted().join(', ')}`,
    )
  }
  const older = pin === null || pin.where === 'composer.json' ? olderFor(composer, suiting) : null
  if (older !== null) notes.push(`php ${older.version} by ${older.why}`)
  else if (pin !== null) notes.push(`php ${first} by ${pin.where} (${text})`)
  return older?.version ?? first!
}

/**
 * Composer's constraints are those of semver, except for the separators, and for `~8.0`, which allows any 8
 * (getcomposer.org, "Versions and constraints").
 */
function rangeOfComposer(constraint: string): string | null {
  const written = constraint
    .replaceAll(',', ' ')
    .replaceAll(/\|+/g, '||')
    .replaceAll(
      /~ ?(\d{1,3})\.(\d{1,3})(?![\d.])/g,
      (_, major, minor) => `>=${major}.${minor} <${Number(major) + 1}`,
    )
  return rangeOf(written)
}

function suits(version: string, range: string): boolean {
  return semver.intersects(range, `${version}.x`)
}

/**
 * The newest PHP for versions of frameworks below a version (laravel.com, "Support Policy"; book.cakephp.org,
 * "Installation").
 */
const FRAMEWORK_LINES: Record<string, [before: string, php: string][]> = {
  'laravel/framework': [
    ['6.0.0', '7.4'],
    ['8.0.0', '8.0'],
    ['9.0.0', '8.1'],
  ],
  'laravel/lumen-framework': [
    ['6.0.0', '7.4'],
    ['8.0.0', '8.0'],
    ['9.0.0', '8.1'],
  ],
  'cakephp/cakephp': [['4.0.0', '7.4']],
}

/** Returns a version other than the first, with the reason; null where the first is right, or none is. */
function olderFor(
  composer: Composer | null,
  suiting: readonly string[],
): { version: string; why: string } | null {
  // A project that only pretends a platform is checked against the real one at run time.
  if (composer === null || composer.isForPlatform) return null
  const framework = frameworkLimit(composer)
  const framed = framework === null ? [] : suiting.filter((each) => Number(each) <= Number(framework.php))
  // If packages of the lock file need a newer one, somebody has seen it work.
  const preferred = [...framed, ...suiting]
  const [first] = preferred
  const asking = askingDifferently(composer.locked)
  const refusing = first === undefined ? undefined : asking.find((each) => refuses(each, first))
  if (refusing !== undefined) {
    const version = preferred.find((each) => !asking.some((one) => refuses(one, each)))
    const wanted = (refusing.requires.php ?? '').slice(0, SHOWN_CHARACTERS)
    if (version !== undefined)
      return { version, why: `composer.lock, whose ${refusing.name} asks for ${wanted}` }
  }
  return first === undefined || first === suiting[0] ? null : { version: first, why: framework!.why }
}

/** How many constraints of packages are checked; no project has more distinct ones, and each takes time. */
const MAX_CONSTRAINTS = 500

/** Returns the first package for each constraint: most packages share a few. */
function askingDifferently(locked: readonly LockedPackage[]): LockedPackage[] {
  const asking = new Map<string | undefined, LockedPackage>()
  for (const each of locked) {
    if (asking.size === MAX_CONSTRAINTS) break
    if (!asking.has(each.requires.php)) asking.set(each.requires.php, each)
  }
  return [...asking.values()]
}

function refuses({ requires }: LockedPackage, version: string): boolean {
  const range = requires.php === undefined ? null : rangeOfComposer(requires.php)
  return range !== null && !suits(version, range)
}

/** Returns the newest PHP on which an older framework runs; null for none, and where a newer framework may be installed. */
function frameworkLimit({ locked, requires }: Composer): { php: string; why: string } | null {
  for (const [name, lines] of Object.entries(FRAMEWORK_LINES)) {
    const installed = locked.find((each) => each.name === name)
    const range = installed
      ? semver.coerce(installed.version)?.version
      : rangeOfComposer(requires[name] ?? '*')
    if (!range) continue
    const php = lines.find(([before]) => !semver.intersects(range, `>=${before}`))?.[1]
    if (php !== undefined)
      return { php, why: `${name} ${semver.minVersion(range)!.version}, which supports none newer` }
  }
  return null
}
