import semver from 'semver'
import { debianOfPython, PYTHON_MINORS, nearestImage, unreadable, type Debian } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles, type Pin } from '../pins.ts'
import { findInLines } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { readEnvironment } from './conda.ts'
import { limitOf } from './pinned.ts'
import { readRequirements } from './requirements.ts'

/** Used where the tree says nothing. */
const DEFAULT_MINOR = 13
/** In order of preference for a range that several versions satisfy. */
const PREFERENCE = [DEFAULT_MINOR, 12, 11, 10, 9, 14, 8, 7]
/** How far another minor version may be: packages are seldom built for many of them. */
const REACH = 2

const write = (minor: number): string => `3.${minor}`

/** A version of Python as its images are named. */
export interface PythonVersion {
  /** `3.13`, or with the patch where the project runs on no other. */
  text: string
  debian: Debian
}

/**
 * Returns the version of Python 3 that a tree pins, else one that its manifest allows. Throws BuildFailure for one that is
 * not available.
 */
export async function choosePythonVersion(tree: Tree, notes: string[]): Promise<PythonVersion> {
  const minor = await chooseMinor(tree, notes)
  // When a project names an exact patch, Poetry and uv run on no other.
  const exact = /^(?:={2,3}\s*)?3\.(\d+)\.(\d+)$/.exec((await wantedBy(tree)) ?? '')
  const patch = Number(exact?.[2])
  const debian = Number(exact?.[1]) === minor ? debianOfPython(minor, patch) : null
  return debian === null
    ? { text: write(minor), debian: 'bookworm' }
    : { text: `${write(minor)}.${patch}`, debian }
}

async function chooseMinor(tree: Tree, notes: string[]): Promise<number> {
  const pin = await firstPin([
    inFiles(tree, ['.python-version', 'runtime.txt']),
    inToolFiles(tree, ['python']),
    inManifest(
      findInLines((await readEnvironment(tree))?.text ?? '', /^\s*- ?python ?={1,2} ?(3\.\d+)/),
      'environment.yml',
    ),
  ])
  if (pin === null) return await byManifest(tree, notes)
  // `3.13t` is the build without the global lock, which has no image.
  const minor = /^(?:python-|cpython-)?3\.(\d+)(?:\.\d+)?(?:[a-z]\w*)?$/.exec(pin.text)?.[1]
  if (minor === undefined) return bySpecifier(pin, notes)
  return nearestImage(
    Number(minor),
    pin,
    { language: 'python', available: PYTHON_MINORS, reach: REACH, write },
    notes,
  )
}

/** Longer ones take time quadratic in their length. */
const MAX_SPECIFIER = 200

/** Tools that parse a pin like pip's requirements accept `>=3.10` too. */
function bySpecifier(pin: Pin, notes: string[]): number {
  const isRange = pin.text.length <= MAX_SPECIFIER && /[<>=~^*]/.test(pin.text)
  const minor = isRange ? PREFERENCE.find((each) => suits(each, pin.text)) : undefined
  if (minor === undefined) throw unreadable(pin, 'Python 3', write(DEFAULT_MINOR))
  notes.push(`python ${write(minor)} by ${pin.where} (${pin.text.slice(0, 100)})`)
  return minor
}

/** Returns what the project's manifest allows. */
async function wantedBy(tree: Tree): Promise<string | undefined> {
  const manifest = `${(await tree.readText('pyproject.toml')) ?? ''}\n${(await tree.readText('Pipfile')) ?? ''}`
  return findInLines(
    manifest,
    /^(?:requires-python|python|python_version|python_full_version)\s*=\s*["']([^"']{1,200})["']/,
  )
}

async function byManifest(tree: Tree, notes: string[]): Promise<number> {
  const wanted = await wantedBy(tree)
  if (wanted === undefined) return await byRequirements(tree, notes)
  const said = JSON.stringify(wanted.slice(0, 100))
  const minor = PREFERENCE.find((each) => suits(each, wanted))
  notes.push(
    minor === undefined
      ? `no known version of python suits ${said}: taking ${write(DEFAULT_MINOR)}`
      : `python ${write(minor)} by the project's ${said}`,
  )
  return minor ?? DEFAULT_MINOR
}

/** Returns the version on which older packages pinned in requirements.txt run, where nothing names a version. */
async function byRequirements(tree: Tree, notes: string[]): Promise<number> {
  const limit = limitOf((await readRequirements(tree)).text, DEFAULT_MINOR)
  if (limit === null) return DEFAULT_MINOR
  notes.push(
    `python ${write(limit.minor)} by ${limit.requirement} of the requirements, which supports none newer`,
  )
  return limit.minor
}

/** Translates version specifiers (PEP 440) for semver; Poetry's `^` and `~` are the same in both. */
function suits(minor: number, specifier: string): boolean {
  const range = specifier
    .split(',')
    .map((part) => part.trim())
    // Exclusions of single versions do not matter: the newest patch of a minor version is used.
    .filter((part) => part !== '' && !part.startsWith('!='))
    .map((part) =>
      part
        .replace(/^~=\s*(\d+)\.(\d+)$/, '>=$1.$2 <4')
        .replace(/^~=\s*/, '~')
        .replace(/^===?\s*/, '')
        .replaceAll('.*', '.x'),
    )
    .join(' ')
  return semver.validRange(range) !== null && semver.intersects(range, `3.${minor}.x`)
}
