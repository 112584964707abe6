import semver from 'semver'
import type { Tree } from '../../../sources/tree.ts'
import { findInLines } from '../../text.ts'
import { PYTHON_MINORS, nearestImage, unreadable } from '../base-images.ts'
import { firstPin, inFiles, inToolFiles, type Pin } from '../pins.ts'

/** Used where the tree says nothing. */
const DEFAULT_MINOR = 13
/** In the order of preference for a range that several suit. */
const PREFERENCE = [DEFAULT_MINOR, 12, 11, 10, 9, 14, 8, 7]
/** Packages are seldom built for many minor versions. */
const REACH = 2

const write = (minor: number): string => `3.${minor}`

/** The minor version of Python 3 that a tree pins, else what its manifest allows. Throws BuildFailure for one that cannot be had. */
export async function choosePythonMinor(tree: Tree, notes: string[]): Promise<number> {
  const pin = await firstPin([
    inFiles(tree, ['.python-version', 'runtime.txt']),
    inToolFiles(tree, ['python']),
  ])
  if (pin === null) return await byManifest(tree, notes)
  // `3.13t` is the build without the global lock; there is no image of it.
  const minor = /^(?:python-|cpython-)?3\.(\d+)(?:\.\d+)?(?:[a-z]\w*)?$/.exec(pin.text)?.[1]
  if (minor === undefined) return bySpecifier(pin, notes)
  return nearestImage(
    Number(minor),
    pin,
    { language: 'python', available: PYTHON_MINORS, reach: REACH, write },
    notes,
  )
}

/** Tools that read a pin as pip reads requirements take `>=3.10` too. */
function bySpecifier(pin: Pin, notes: string[]): number {
  const minor = /[<>=~^*]/.test(pin.text) ? PREFERENCE.find((each) => suits(each, pin.text)) : undefined
  if (minor === undefined) throw unreadable(pin, 'Python 3', write(DEFAULT_MINOR))
  notes.push(`python ${write(minor)} by ${pin.where} (${pin.text.slice(0, 100)})`)
  return minor
}

async function byManifest(tree: Tree, notes: string[]): Promise<number> {
  const manifest = `${(await tree.readText('pyproject.toml')) ?? ''}\n${(await tree.readText('Pipfile')) ?? ''}`
  const wanted = findInLines(
    manifest,
    /^(?:requires-python|python|python_version|python_full_version)\s*=\s*["']([^"']{1,200})["']/,
  )
  if (wanted === undefined) return DEFAULT_MINOR
  const said = JSON.stringify(wanted.slice(0, 100))
  const minor = PREFERENCE.find((each) => suits(each, wanted))
  notes.push(
    minor === undefined
      ? `no known version of python suits ${said}: taking ${write(DEFAULT_MINOR)}`
      : `python ${write(minor)} by the project's ${said}`,
  )
  return minor ?? DEFAULT_MINOR
}

/** Version specifiers (PEP 440) in the words of semver, which Poetry's `^` and `~` are already. */
function suits(minor: number, specifier: string): boolean {
  const range = specifier
    .split(',')
    .map((part) => part.trim())
    // Excluded single versions do not matter: the newest of a minor version is taken.
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
