import semver from 'semver'
import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { findInLines } from '../text.ts'

/** Used where the tree says nothing. */
const DEFAULT_MINOR = 13
/** Versions with an image on Debian 12, in the order of preference for a range that several suit. */
const MINORS = [DEFAULT_MINOR, 12, 11, 10, 9, 14, 8]

/** The minor version of Python 3 by `.python-version`, `runtime.txt` or the project's manifest. */
export async function choosePythonMinor(tree: Tree, notes: string[]): Promise<number> {
  for (const file of ['.python-version', 'runtime.txt']) {
    const line = findInLines((await tree.readText(file)) ?? '', /^\s*([^#\s].*)/)?.trim()
    if (line === undefined) continue
    const minor = /^(?:python-|cpython-)?3\.(\d+)(?:\.\d+)?$/.exec(line)?.[1]
    if (minor === undefined) {
      throw new BuildFailure(
        `${file} says ${JSON.stringify(line.slice(0, 100))}, which is no version of Python 3: write one such as 3.${DEFAULT_MINOR}`,
      )
    }
    notes.push(`python 3.${minor} by ${file}`)
    return Number(minor)
  }
  const manifest = `${(await tree.readText('pyproject.toml')) ?? ''}\n${(await tree.readText('Pipfile')) ?? ''}`
  const wanted = findInLines(
    manifest,
    /^(?:requires-python|python|python_version)\s*=\s*["']([^"']{1,200})["']/,
  )
  return wanted === undefined ? DEFAULT_MINOR : minorOfRange(wanted, notes)
}

function minorOfRange(specifier: string, notes: string[]): number {
  const minor = MINORS.find((each) => suits(each, specifier))
  if (minor === undefined) {
    notes.push(
      `no known version of python suits ${JSON.stringify(specifier.slice(0, 100))}: taking 3.${DEFAULT_MINOR}`,
    )
    return DEFAULT_MINOR
  }
  notes.push(`python 3.${minor} by the project's ${JSON.stringify(specifier)}`)
  return minor
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
