import { findInLines } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** Versions of Java on which a Gradle runs. */
export interface JavaLines {
  oldest: number
  newest: number
}

/** The newest Java on which each Gradle runs, newest first (Gradle, "Compatibility Matrix"). */
const NEWEST: [gradle: string, java: number][] = [
  ['9.1', 25],
  ['8.14', 24],
  ['8.10', 23],
  ['8.8', 22],
  ['8.5', 21],
  ['8.3', 20],
  ['7.6', 19],
  ['7.5', 18],
  ['7.3', 17],
  ['7.0', 16],
  ['6.7', 15],
  ['6.3', 14],
  ['6.0', 13],
  ['5.4', 12],
  ['5.0', 11],
]
const NEWEST_OF_OLDER = 8

/** From version 9 on, Gradle itself requires this version. */
const OLDEST_OF_9 = 17

/**
 * Returns the versions of Java on which a tree's wrapper runs; null for a tree without a wrapper that states its version.
 */
export async function wrapperRunsOn(tree: Tree): Promise<JavaLines | null> {
  const properties = (await tree.readText('gradle/wrapper/gradle-wrapper.properties')) ?? ''
  const version = findInLines(properties, /^\s*distributionUrl\s*=\S*?gradle-(\d{1,3}\.\d{1,3})/)
  if (version === undefined) return null
  const newest = NEWEST.find(([gradle]) => order(gradle) <= order(version))?.[1] ?? NEWEST_OF_OLDER
  return { oldest: order(version) >= order('9.0') ? OLDEST_OF_9 : NEWEST_OF_OLDER, newest }
}

/** Turns a version with two parts into a number that sorts. */
function order(version: string): number {
  const [major, minor] = version.split('.').map(Number) as [number, number]
  return major * 1_000 + minor
}
