import semver from 'semver'
import { NODE_MAJORS, nearestImage, unreadable } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles, type Pin } from '../pins.ts'
import { rangeOf } from '../ranges.ts'
import type { Tree } from '../source/tree.ts'
import type { Manifest } from './manifest.ts'

/** The current long-term support version (nodejs/Release, schedule). */
const CURRENT_LTS = 24

/** The code names of long-term support versions (nodejs/Release, schedule.json). */
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

/** For a range that several versions satisfy: the current LTS first, then those before it, then newer and odd ones. */
const PREFERENCE = [CURRENT_LTS, 22, 20, 18, 16, 26, 25, 23, 21]

/** Long-term support versions before the first with an image, newest first. */
const OLDER_MAJORS = [14, 12, 10, 8, 6]

/** Node runs programs written for versions a few years older, and most for still older ones; the reverse does not hold. */
const REACH = 4
const REACH_OF_OLDER = 10

/**
 * Returns the major version that a tree, or the workspace around it, pins, else the current LTS. Throws BuildFailure for an
 * unreadable one.
 */
export async function chooseNodeMajor(
  places: { tree: Tree; manifest: Manifest }[],
  notes: string[],
): Promise<number> {
  const pin = await firstPin(places.flatMap(({ tree, manifest }) => pinsOf(tree, manifest)))
  const sass = sassOf(places)
  const newest = sass?.newest ?? null
  if (sass !== null && newest === null) {
    notes.push(`${sass.name} runs on no node that has an image: use the package sass instead`)
  }
  if (pin === null && sass !== null && newest !== null) {
    notes.push(`node ${newest} by ${sass.name} of package.json, which supports none newer`)
    return newest
  }
  if (pin === null) return CURRENT_LTS
  const major = majorOfName(pin.text) ?? majorOfRange(pin.text.replace(/^v/, ''))
  if (major === null) throw unreadable(pin, 'node', String(CURRENT_LTS))
  const reach = major < NODE_MAJORS[0]! ? REACH_OF_OLDER : REACH
  const choice = { language: 'node', available: NODE_MAJORS, reach, write: String }
  return nearestImage(major, describe(pin), choice, notes)
}

/**
 * The newest version with an image for which each major version of node-sass has prebuilt files (sass/node-sass, README).
 */
const SASS_LINES: Record<string, number> = { 6: 16, 7: 16, 8: 18, 9: 20 }

/**
 * Returns the old Sass compiler of a project, with the newest node for which it has prebuilt files; null where no such
 * version has an image.
 */
function sassOf(places: readonly { manifest: Manifest }[]): { name: string; newest: number | null } | null {
  for (const { manifest } of places) {
    const range = manifest.dependencies['node-sass'] ?? ''
    const major = /^[~^]?(\d+)(?:\.|$)/.exec(range)?.[1]
    if (major === undefined) continue
    const newest = Object.hasOwn(SASS_LINES, major) ? SASS_LINES[major]! : null
    return { name: `node-sass ${range.slice(0, 50)}`, newest }
  }
  return null
}

function pinsOf(tree: Tree, manifest: Manifest): (() => Promise<Pin | null>)[] {
  const { runtime } = manifest.devEngines
  return [
    inFiles(tree, ['.node-version', '.nvmrc']),
    inToolFiles(tree, ['nodejs', 'node']),
    inManifest(manifest.volta.node, 'volta.node of package.json'),
    inManifest(runtime?.name === 'node' ? runtime.version : null, 'devEngines of package.json'),
    inManifest(manifest.engines.node, 'engines.node of package.json'),
  ]
}

/** A range is noted with its file, because the chosen version is not written there. */
function describe(pin: Pin): Pin {
  return /^v?\d+(?:\.\d+)*$/.test(pin.text)
    ? pin
    : { ...pin, where: `${pin.where} (${pin.text.slice(0, 100)})` }
}

/** The aliases of nvm: `lts/*`, `lts/iron`, `node`. */
function majorOfName(text: string): number | null {
  const name = text.toLowerCase()
  if (/^(lts\/\*|lts|node|stable|latest|current)$/.test(name)) return CURRENT_LTS
  const alias = name.replace(/^lts[/-]/, '')
  return Object.hasOwn(LTS_NAMES, alias) ? LTS_NAMES[alias]! : null
}

function majorOfRange(text: string): number | null {
  const range = rangeOf(text)
  if (range === null) return null
  const lines = [...PREFERENCE, ...OLDER_MAJORS]
  const preferred = lines.find((major) => semver.intersects(range, `${major}.x`))
  return preferred ?? semver.minVersion(range)?.major ?? null
}

/** Returns the version of Bun 1 that a tree, or the workspace around it, pins; null for the newest. */
export async function chooseBunVersion(
  places: { tree: Tree; manifest: Manifest }[],
  notes: string[],
): Promise<string | null> {
  const pin = await firstPin(places.flatMap(({ tree, manifest }) => pinsOfBun(tree, manifest)))
  const version = /^v?(1(?:\.\d+){0,2})(?:\+|$)/.exec(pin?.text ?? '')?.[1] ?? null
  if (pin !== null && version === null && !suitsNewestBun(pin.text))
    notes.push(`${pin.where} is not a version of Bun 1: using the newest`)
  return version
}

function pinsOfBun(tree: Tree, manifest: Manifest): (() => Promise<Pin | null>)[] {
  const { packageManager } = manifest.devEngines
  return [
    inFiles(tree, ['.bun-version']),
    inToolFiles(tree, ['bun']),
    inManifest(/^bun@(.+)$/.exec(manifest.packageManager ?? '')?.[1], 'packageManager of package.json'),
    inManifest(manifest.engines.bun, 'engines.bun of package.json'),
    inManifest(packageManager?.name === 'bun' ? packageManager.version : null, 'devEngines of package.json'),
  ]
}

function suitsNewestBun(text: string): boolean {
  const range = rangeOf(text)
  return range !== null && semver.intersects(range, '1.x')
}
