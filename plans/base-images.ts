import type { Pin } from './pins.ts'
import { BuildFailure } from './source/failure.ts'

/**
 * The versions that have a base image, oldest first. Checked on 2026-08-21 against the history of the list of official
 * images (docker-library/official-images); images on Debian 12, where the name says so.
 */
export const NODE_MAJORS = [16, 18, 20, 21, 22, 23, 24, 25, 26]
/** Minor versions of Python 3. */
export const PYTHON_MINORS = range(7, 14)
/** The first patch of each minor version with an image on Debian 11, the first on Debian 12, and the last. */
const PYTHON_PATCHES: Record<number, [bullseye: number, bookworm: number, last: number]> = {
  7: [11, 17, 17],
  8: [11, 17, 20],
  9: [6, 17, 25],
  10: [0, 12, 21],
  11: [0, 4, 16],
  12: [0, 0, 14],
  13: [0, 0, 15],
  14: [0, 0, 7],
}

/** Returns the Debian release that the image of a Python patch is based on; null where there is no such image. */
export function debianOfPython(minor: number, patch: number): Debian | null {
  const [bullseye, bookworm, last] = PYTHON_PATCHES[minor] ?? [1, 1, 0]
  if (patch < bullseye || patch > last) return null
  return patch < bookworm ? 'bullseye' : 'bookworm'
}

/** Minor versions of Go 1. */
export const GO_MINORS = range(19, 27)
/** Minor versions of Elixir 1. */
export const ELIXIR_MINORS = range(12, 20)
/** Minor versions of Rust 1. */
export const RUST_MINORS = range(67, 98)
/** Eclipse Temurin, both the compiler and the runtime. */
export const JAVA_MAJORS = [8, 11, ...range(17, 26)]
/** The patches of each minor version: Bundler requires exactly the one that a Gemfile names. */
export const RUBY_PATCHES: Record<string, number[]> = {
  '2.6': range(8, 10),
  '2.7': range(4, 8),
  '3.0': range(2, 7),
  '3.1': range(0, 7),
  '3.2': range(0, 11),
  '3.3': range(0, 12),
  '3.4': range(1, 10),
  '4.0': range(0, 6),
}
/** In order of preference where several satisfy a requirement. */
export const PHP_VERSIONS = ['8.4', '8.3', '8.2', '8.5', '8.1', '8.0', '7.4']
/** From Microsoft's own registry, which keeps versions that are out of support. */
export const DOTNET_MAJORS = [6, 7, 8, 9, 10]

/** Returns the Debian release that a Ruby's images are based on: versions from before Debian 12 have images on Debian 11. */
export function debianOfRuby(version: string): Debian {
  return isOlder(version, ['2.6', '2.7', '3.0', '3.1.0', '3.1.1', '3.1.2', '3.1.3', '3.2.0', '3.2.1'])
}

/** The same for PHP. */
export function debianOfPhp(version: string): Debian {
  return isOlder(version, ['7.4', '8.0'])
}

/** The releases of Debian by their names. */
export type Debian = 'bookworm' | 'bullseye'

function isOlder(version: string, older: string[]): Debian {
  return older.some((each) => version === each || (each.length === 3 && version.startsWith(`${each}.`)))
    ? 'bullseye'
    : 'bookworm'
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** How the versions of a language are chosen among those with an image. */
export interface Choice {
  /** Such as `node`. */
  language: string
  available: readonly number[]
  /** The largest distance between the version asked for and the one taken instead. */
  reach: number
  /** A version as people write it: `3.12` for 12. */
  write: (version: number) => string
}

/**
 * Returns the version that a pin asks for, or the nearest one that has a base image, with a note. Throws BuildFailure that
 * names the file where none is near.
 */
export function nearestImage(wanted: number, pin: Pin, choice: Choice, notes: string[]): number {
  const { language, available, reach, write } = choice
  // Of two equally near ones, the newer.
  const nearest = available.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted) || b - a)[0]!
  if (Math.abs(nearest - wanted) > reach) {
    throw new BuildFailure(
      `${pin.where} says ${JSON.stringify(pin.text.slice(0, 100))}, and there is no base image near ${language} ${write(wanted)}: write one of ${available.map(write).join(', ')}`,
    )
  }
  notes.push(
    nearest === wanted
      ? `${language} ${write(wanted)} by ${pin.where}`
      : `${language} ${write(wanted)} of ${pin.where} has no base image: using the nearest, ${write(nearest)}`,
  )
  return nearest
}

/** Returns the error for a pin that is not a version. */
export function unreadable(pin: Pin, language: string, example: string): BuildFailure {
  return new BuildFailure(
    `${pin.where} says ${JSON.stringify(pin.text.slice(0, 100))}, which is not a version of ${language}: write one such as ${example}`,
  )
}
