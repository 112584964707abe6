import { isRecord, parsedJson, textsOf } from '../../source/json.ts'
import type { Manifests } from '../manifest.ts'
import { difference, overriddenIn } from './importers.ts'

/** Returns what bun.lock lacks for `--frozen-lockfile`; null for nothing (bun.com, "Lockfile"). */
export function gapOfBun(text: string, manifests: Manifests): string | null {
  // It has trailing commas, which JSON does not allow.
  const lock = parsedJson(text.replaceAll(/,(?=\s{0,40}[\]}])/g, ''))
  if (!isRecord(lock) || !isRecord(lock.workspaces)) return null
  const importers = new Map(
    Object.entries(lock.workspaces).map(([folder, entry]) => [folder, rangesOf(entry)]),
  )
  return difference(importers, manifests)
}

/** A range that is written into the file exactly as in package.json. */
const PLAIN_RANGE = /^[~^]?\d[\w.+-]*$/

/**
 * Returns what bun.lockb, the format of Bun before 1.2, lacks for `--frozen-lockfile`, as far as its bytes show: names and
 * ranges are in it as plain text. Null for nothing.
 */
export function gapOfOldBun(text: string, manifests: Manifests): string | null {
  const overridden = overriddenIn(manifests.get(''))
  for (const { dependencies } of manifests.values()) {
    for (const [name, range] of Object.entries(dependencies)) {
      if (overridden.has(name)) continue
      if (!text.includes(name)) return `it lacks ${name}`
      if (PLAIN_RANGE.test(range) && !text.includes(range))
        return `it has no ${name} for ${range} of package.json`
    }
  }
  return null
}

function rangesOf(entry: unknown): Map<string, string> {
  const { optionalDependencies, devDependencies, dependencies } = isRecord(entry) ? entry : {}
  return new Map(
    [optionalDependencies, devDependencies, dependencies].flatMap((each) => Object.entries(textsOf(each))),
  )
}
