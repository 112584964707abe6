import { JAVA_MAJORS, nearestImage, unreadable } from '../base-images.ts'
import { firstPin, inFiles, inManifest, inToolFiles, type PinReader } from '../pins.ts'
import { findInLines } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { JavaLines } from './gradle.ts'

/** The long-term support version that most projects are tested with, and those before it. */
const DEFAULT_MAJOR = 21
const EARLIER_MAJORS = [17, 11, 8]
/** Programs also run on newer versions than the one they were written for. */
const REACH = 6

/**
 * Returns the major version of Java that a tree pins, or the build around it, or that its manifest compiles for. Throws
 * BuildFailure for one that is not available.
 */
export async function chooseJavaMajor(
  tree: Tree,
  manifest: string,
  notes: string[],
  tool: JavaLines | null = null,
  root: Tree | null = null,
): Promise<number> {
  const pin = await firstPin([
    ...(await pinsOf(tree)),
    ...(root === null ? [] : await pinsOf(root)),
    inManifest(compiledFor(manifest), COMPILED_FOR),
  ])
  if (pin === null) return suiting(tool, notes)
  // `1.8` is the old spelling of 8; a vendor may come before the version: `temurin-21.0.2+13`.
  const major = /^(?:[a-z]+-)*(?:1\.(?=\d))?(\d+)/.exec(pin.text)?.[1]
  if (major === undefined) throw unreadable(pin, 'Java', String(DEFAULT_MAJOR))
  const choice = { language: 'java', available: JAVA_MAJORS, reach: REACH, write: String }
  const chosen = nearestImage(Number(major), pin, choice, notes)
  // A newer version compiles for older ones; it has to be one on which the build tool itself runs.
  if (pin.where !== COMPILED_FOR || tool === null || chosen >= tool.oldest) return chosen
  notes.push(`the Gradle of its wrapper runs on java ${tool.oldest} and newer`)
  return tool.oldest
}

async function pinsOf(tree: Tree): Promise<PinReader[]> {
  const properties = (await tree.readText('system.properties')) ?? ''
  const sdk = (await tree.readText('.sdkmanrc')) ?? ''
  return [
    inFiles(tree, ['.java-version']),
    inManifest(findInLines(properties, /^java\.runtime\.version\s*=\s*([\w.-]+)/), 'system.properties'),
    inManifest(findInLines(sdk, /^java\s*=\s*([\w.-]+)/), '.sdkmanrc'),
    inToolFiles(tree, ['java']),
  ]
}

const COMPILED_FOR = 'the manifest'

/** Returns the newest usual version on which the tool runs. */
function suiting(tool: JavaLines | null, notes: string[]): number {
  if (tool === null || tool.newest >= DEFAULT_MAJOR) return DEFAULT_MAJOR
  const major = EARLIER_MAJORS.find((each) => each <= tool.newest)!
  notes.push(`java ${major}: the Gradle of its wrapper runs on no newer version than ${tool.newest}`)
  return major
}

/** Returns the version that Maven, Gradle or sbt compiles for. */
function compiledFor(manifest: string): string | undefined {
  return (
    /<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target|release)>\s*([\d.]+)\s*</.exec(
      manifest,
    )?.[1] ??
    /JavaLanguageVersion\.of\((\d+)\)|JavaVersion\.VERSION_(?:1_)?(\d+)\b|\bjvmToolchain\((\d+)\)|\b(?:source|target)Compatibility = ["']?(?:1\.)?(\d+)\b/
      .exec(manifest)
      ?.slice(1)
      .find((each) => each !== undefined)
  )
}
