import semver from 'semver'
import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { findInLines } from '../text.ts'
import type { Manifest } from './node-manifest.ts'

/** The line in long-term support (nodejs/Release, schedule). */
const CURRENT_LTS = 24

/** The names of lines in long-term support (nodejs/Release, schedule.json). */
const LTS_NAMES: Record<string, number> = {
  argon: 4,
  boron: 6,
  carbon: 8,
  dubnium: 10,
  erbium: 12,
  fermium: 14,
  gallium: 16,
  hydrogen: 18,
  iron: 20,
  jod: 22,
  krypton: 24,
}

/** For a range that several lines suit: the current line first, then those before it, then newer and odd ones. */
const PREFERENCE = [CURRENT_LTS, 22, 20, 18, 16, 14, 26, 25, 23, 21, 19, 17, 15]

/** Telling whether two ranges meet takes the square of their lengths. */
const MAX_RANGE_CHARACTERS = 200

/** The major version by `.node-version`, `.nvmrc` or `engines`, else the current LTS. Throws BuildFailure for an unreadable one. */
export async function chooseNodeMajor(tree: Tree, manifest: Manifest, notes: string[]): Promise<number> {
  for (const file of ['.node-version', '.nvmrc']) {
    const text = await tree.readText(file)
    const line = findInLines(text ?? '', /^\s*([^#\s][^#]*)/)?.trim()
    if (line === undefined) continue
    const major = majorOfName(line) ?? majorOfRange(line.replace(/^v/, ''))
    if (major === null) throw unreadable(file, line)
    notes.push(`node ${major} by ${file}`)
    return major
  }
  if (manifest.nodeRange === null) return CURRENT_LTS
  const major = majorOfRange(manifest.nodeRange)
  if (major === null) throw unreadable('engines.node of package.json', manifest.nodeRange)
  notes.push(`node ${major} by engines.node of package.json (${manifest.nodeRange})`)
  return major
}

/** The aliases of nvm: `lts/*`, `lts/iron`, `node`. */
function majorOfName(text: string): number | null {
  const name = text.toLowerCase()
  if (/^(lts\/\*|lts|node|stable|latest|current)$/.test(name)) return CURRENT_LTS
  return LTS_NAMES[name.replace(/^lts\//, '')] ?? null
}

function majorOfRange(text: string): number | null {
  const range = text.length > MAX_RANGE_CHARACTERS ? null : semver.validRange(text)
  if (range === null) return null
  const preferred = PREFERENCE.find((major) => semver.intersects(range, `${major}.x`))
  return preferred ?? semver.minVersion(range)?.major ?? null
}

function unreadable(where: string, text: string): BuildFailure {
  return new BuildFailure(
    `${where} says ${JSON.stringify(text.slice(0, 100))}, which is no version of node: write one such as ${CURRENT_LTS}`,
  )
}
