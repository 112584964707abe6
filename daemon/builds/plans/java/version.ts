import type { Tree } from '../../../sources/tree.ts'
import { findInLines } from '../../text.ts'
import { JAVA_MAJORS, nearestImage, unreadable } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles } from '../pins.ts'

/** The line in long-term support that most projects are tested with. */
const DEFAULT_MAJOR = 21
/** A program runs on a newer line than the one that it was written for. */
const REACH = 6

/** The major version of Java that a tree pins, or its manifest compiles for. Throws BuildFailure for one that cannot be had. */
export async function chooseJavaMajor(tree: Tree, manifest: string, notes: string[]): Promise<number> {
  const properties = (await tree.readText('system.properties')) ?? ''
  const sdk = (await tree.readText('.sdkmanrc')) ?? ''
  const pin = await firstPin([
    inFiles(tree, ['.java-version']),
    inManifest(findInLines(properties, /^java\.runtime\.version\s*=\s*([\w.-]+)/), 'system.properties'),
    inManifest(findInLines(sdk, /^java\s*=\s*([\w.-]+)/), '.sdkmanrc'),
    inToolFiles(tree, ['java']),
    inManifest(compiledFor(manifest), 'the manifest'),
  ])
  if (pin === null) return DEFAULT_MAJOR
  // `1.8` is how 8 was written; vendors stand before the version: `temurin-21.0.2+13`.
  const major = /^(?:[a-z]+-)*(?:1\.(?=\d))?(\d+)/.exec(pin.text)?.[1]
  if (major === undefined) throw unreadable(pin, 'Java', String(DEFAULT_MAJOR))
  const choice = { language: 'java', available: JAVA_MAJORS, reach: REACH, write: String }
  return nearestImage(Number(major), pin, choice, notes)
}

/** What Maven, Gradle or sbt compile for. */
function compiledFor(manifest: string): string | undefined {
  return (
    /<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target|release)>\s*([\d.]+)\s*</.exec(
      manifest,
    )?.[1] ??
    /JavaLanguageVersion\.of\((\d+)\)|JavaVersion\.VERSION_(?:1_)?(\d+)\b|\bjvmToolchain\((\d+)\)/
      .exec(manifest)
      ?.slice(1)
      .find((each) => each !== undefined)
  )
}
