import semver from 'semver'
import type { Tree } from '../../../sources/tree.ts'
import { BuildFailure } from '../../failure.ts'
import { findInLines } from '../../text.ts'
import { RUBY_PATCHES, unreadable } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles, quotedIn, type Pin } from '../pins.ts'
import { rangeOf } from '../ranges.ts'

const DEFAULT_LINE = '3.4'
/** In the order of preference for a requirement that several suit. */
const PREFERENCE = [DEFAULT_LINE, '3.3', '3.2', '3.1', '4.0', '3.0', '2.7', '2.6']

/** Of a requirement, in a note. */
const SHOWN_CHARACTERS = 100

/**
 * The version that a tree pins: a whole one where there is an image of it, else its line. Bundler refuses any other than
 * a whole one that the Gemfile names. Throws BuildFailure for one that cannot be had.
 */
export async function chooseRubyVersion(tree: Tree, notes: string[]): Promise<string> {
  const lock = (await tree.readText('Gemfile.lock')) ?? ''
  const gemfile = (await tree.readText('Gemfile')) ?? ''
  const requirement = findInLines(gemfile, /^\s*ruby[\s(]+(["'].*)$/)
  const wanted = requirement === undefined ? null : quotedIn(requirement)
  const pin = await firstPin([
    inFiles(tree, ['.ruby-version']),
    inToolFiles(tree, ['ruby']),
    // Bundler writes it in a line of its own, below "RUBY VERSION"; it names one version where the Gemfile allows many.
    inManifest(findInLines(lock, /^\s+ruby (\d+\.\d+\.\d+)/), 'Gemfile.lock'),
    inManifest(wanted, 'Gemfile'),
  ])
  if (pin === null) return DEFAULT_LINE
  const [, line, patch] = /^(?:ruby-)?(\d+\.\d+)(?:\.(\d+))?(?:[-p]\w*)?$/.exec(pin.text) ?? []
  if (line === undefined) return byRequirement(pin, notes)
  const version = exactly(pin, line, patch, notes)
  if (wanted !== null && /^\d+\.\d+\.\d+$/.test(wanted) && wanted !== version) throw refusedByBundler(wanted)
  return version
}

/** Bundler installs nothing under another Ruby than the one that a Gemfile names. */
function refusedByBundler(wanted: string): BuildFailure {
  const line = wanted.replace(/\.\d+$/, '')
  const patches = Object.hasOwn(RUBY_PATCHES, line) ? RUBY_PATCHES[line]! : []
  const there = patches.map((patch) => `${line}.${patch}`)
  const others = there.length > 0 ? there : Object.keys(RUBY_PATCHES)
  return new BuildFailure(
    `Gemfile says "${wanted}", with which Bundler runs on no other Ruby, and there is no base image of it: write one of ${others.join(', ')}`,
  )
}

function exactly(pin: Pin, line: string, patch: string | undefined, notes: string[]): string {
  if (!Object.hasOwn(RUBY_PATCHES, line)) {
    const nearest = nearestLine(line)
    if (nearest === null) throw unavailable(pin)
    notes.push(`ruby ${line} of ${pin.where} has no base image: taking the nearest, ${nearest}`)
    return nearest
  }
  const isThere = patch !== undefined && RUBY_PATCHES[line]!.includes(Number(patch))
  const version = isThere ? `${line}.${patch}` : line
  notes.push(
    isThere || patch === undefined
      ? `ruby ${version} by ${pin.where}`
      : `ruby ${line}.${patch} of ${pin.where} has no base image: taking the newest ${line}`,
  )
  return version
}

/** The line after or before it, of the same major version. */
function nearestLine(line: string): string | null {
  const [major, minor] = line.split('.').map(Number) as [number, number]
  const lines = Object.keys(RUBY_PATCHES)
  return (
    lines.find((each) => each === `${major}.${minor + 1}`) ??
    lines.find((each) => each === `${major}.${minor - 1}`) ??
    null
  )
}

/** RubyGems' operators are semver's, but for `~>`, which lets the last part named grow. */
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
