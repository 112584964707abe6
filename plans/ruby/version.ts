import semver from 'semver'
import { RUBY_PATCHES, unreadable } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles, quotedIn, type Pin } from '../pins.ts'
import { rangeOf } from '../ranges.ts'
import { BuildFailure } from '../source/failure.ts'
import { findInLines } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

const DEFAULT_LINE = '3.4'
/** In order of preference for a requirement that several versions satisfy. */
const PREFERENCE = [DEFAULT_LINE, '3.3', '3.2', '3.1', '4.0', '3.0', '2.7', '2.6']

/** The length of a requirement in a note. */
const SHOWN_CHARACTERS = 100

/**
 * Returns the version that a tree pins: an exact one if it has an image, else its minor version. If the Gemfile names an
 * exact version, Bundler refuses any other. Throws BuildFailure for one that is not available.
 */
export async function chooseRubyVersion(tree: Tree, notes: string[]): Promise<string> {
  const lock = (await tree.readText('Gemfile.lock')) ?? ''
  const gemfile = (await tree.readText('Gemfile')) ?? ''
  const requirement = findInLines(gemfile, /^\s*ruby[\s(]+(["'].*)$/)
  const wanted = requirement === undefined ? null : quotedIn(requirement)
  const pin = await firstPin([
    inFiles(tree, ['.ruby-version']),
    inToolFiles(tree, ['ruby']),
    // Bundler writes it on a line of its own, below "RUBY VERSION"; it is exact where the Gemfile allows several.
    inManifest(findInLines(lock, /^\s+ruby (\d+\.\d+\.\d+)/), 'Gemfile.lock'),
    inManifest(wanted, 'Gemfile'),
  ])
  if (pin === null) return lineOfLock(lock, notes)
  const [, line, patch] = /^(?:ruby-)?(\d+\.\d+)(?:\.(\d+))?(?:[-p]\w*)?$/.exec(pin.text) ?? []
  if (line === undefined) return byRequirement(pin, notes)
  const version = exactly(pin, line, patch, notes)
  if (wanted !== null && /^\d+\.\d+\.\d+$/.test(wanted) && wanted !== version) throw refusedByBundler(wanted)
  return version
}

/** Returns the version with which a lock file was made, if it names none and the default could not run its gems. */
function lineOfLock(lock: string, notes: string[]): string {
  const by = (gem: string, version: string, line: string): string => {
    notes.push(`ruby ${line} by Gemfile.lock, which has ${gem} ${version} and names no Ruby`)
    return line
  }
  const bundler = bundlerOf(lock)
  // From this Bundler on older versions of Ruby are not supported (RubyGems, "bundler", required Ruby version).
  const isOfRuby3 = bundler !== null && semver.gte(bundler, '2.4.0')
  const isOlder = bundler !== null && semver.lt(bundler, '2.2.0')
  const rails = railsOf(lock)
  if (rails !== null) {
    const [, newest] = RAILS_LINES.find(([before]) => semver.lt(rails, before)) ?? []
    const line = newest === '3.2' && isOlder ? LAST_WITH_OLDER : newest
    return line === undefined || (isOfRuby3 && line.startsWith('2.'))
      ? DEFAULT_LINE
      : by('rails', rails, line)
  }
  if (!isOlder) return DEFAULT_LINE
  // It included WEBrick and strings that older gems modify (ruby-lang.org, "Ruby 3.0.0 Released").
  return by('Bundler', bundler, semver.lt(bundler, '2.0.0') ? '2.7' : LAST_WITH_OLDER)
}

/**
 * The last version that starts a Bundler before 2.2, which the lock file asks for (ruby-lang.org, "Ruby 3.2.0 Released",
 * "Removed methods").
 */
const LAST_WITH_OLDER = '3.1'

/**
 * The newest version that runs a Rails below each version (Rails guides, "Upgrading Ruby on Rails"; 7.1 lists what 3.4
 * lacks).
 */
const RAILS_LINES: [before: string, line: string][] = [
  ['5.2.0', '2.6'],
  ['6.1.0', '2.7'],
  ['7.1.0', '3.2'],
]

/** Returns the version of Rails in a lock file; null without it. */
export function railsOf(lock: string): string | null {
  return findInLines(lock, /^ {4}rails \((\d+\.\d+\.\d+)/) ?? null
}

/** Returns the version of Bundler that wrote a lock file, from the line below "BUNDLED WITH"; null for none. */
function bundlerOf(lock: string): string | null {
  return /\nBUNDLED WITH\r?\n +(\d+\.\d+\.\d+)/.exec(lock)?.[1] ?? null
}

/**
 * Before version 3.1, Ruby starts no Bundler of another major version than the one that wrote the lock file (RubyGems,
 * "BundlerVersionFinder").
 */
const BUNDLERS: Record<string, { wants: string; brings: string }> = {
  '2.6': { wants: '2', brings: '2.3.27' },
  '2.7': { wants: '1', brings: '1.17.3' },
  '3.0': { wants: '1', brings: '1.17.3' },
}

/**
 * Returns the Bundler that has to be installed next to the one included in a version of Ruby to accept a lock file; null for
 * none.
 */
export function bundlerFor(version: string, lock: string): string | null {
  const line = version.split('.').slice(0, 2).join('.')
  const other = Object.hasOwn(BUNDLERS, line) ? BUNDLERS[line]! : null
  return other !== null && bundlerOf(lock)?.startsWith(`${other.wants}.`) === true ? other.brings : null
}

/** Bundler installs nothing on another Ruby than the one that a Gemfile names. */
function refusedByBundler(wanted: string): BuildFailure {
  const line = wanted.replace(/\.\d+$/, '')
  const patches = Object.hasOwn(RUBY_PATCHES, line) ? RUBY_PATCHES[line]! : []
  const there = patches.map((patch) => `${line}.${patch}`)
  const others = there.length > 0 ? there : Object.keys(RUBY_PATCHES)
  return new BuildFailure(
    `Gemfile says "${wanted}": Bundler accepts no other Ruby, and there is no base image of it: write one of ${others.join(', ')}`,
  )
}

function exactly(pin: Pin, line: string, patch: string | undefined, notes: string[]): string {
  if (!Object.hasOwn(RUBY_PATCHES, line)) {
    const nearest = nearestLine(line)
    if (nearest === null) throw unavailable(pin)
    notes.push(`ruby ${line} of ${pin.where} has no base image: using the nearest, ${nearest}`)
    return nearest
  }
  const isThere = patch !== undefined && RUBY_PATCHES[line]!.includes(Number(patch))
  const version = isThere ? `${line}.${patch}` : line
  notes.push(
    isThere || patch === undefined
      ? `ruby ${version} by ${pin.where}`
      : `ruby ${line}.${patch} of ${pin.where} has no base image: using the newest ${line}`,
  )
  return version
}

/** Returns the minor version after or before it, of the same major version. */
function nearestLine(line: string): string | null {
  const [major, minor] = line.split('.').map(Number) as [number, number]
  const lines = Object.keys(RUBY_PATCHES)
  return (
    lines.find((each) => each === `${major}.${minor + 1}`) ??
    lines.find((each) => each === `${major}.${minor - 1}`) ??
    null
  )
}

/** RubyGems' operators are those of semver, except for `~>`, which lets the last given part grow. */
function byRequirement(pin: Pin, notes: string[]): string {
  const text = pin.text.slice(0, SHOWN_CHARACTERS).trim()
  const [, grown] = /^~>\s*(\d+(?:\.\d+){0,2})$/.exec(text) ?? []
  const range = rangeOf(grown === undefined ? text : compatible(grown))
  if (range === null) throw unreadable(pin, 'Ruby', `${DEFAULT_LINE}.1`)
  const line = PREFERENCE.find((each) => semver.intersects(range, `${each}.x`))
  if (line === undefined) throw unavailable(pin)
  notes.push(`ruby ${line} by ${pin.where} (${text})`)
  return line
}

function compatible(version: string): string {
  const parts = version.split('.')
  return parts.length === 3 ? `~${version}` : parts.length === 2 ? `^${version}` : `>=${version}`
}

function unavailable(pin: Pin): BuildFailure {
  return new BuildFailure(
    `${pin.where} says ${JSON.stringify(pin.text.slice(0, 100))}, and there is no base image near that Ruby: write one of ${Object.keys(RUBY_PATCHES).join(', ')}`,
  )
}
