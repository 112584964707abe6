import { parsedJson } from '#server/parsed-json.ts'
import { isRecord, textsOf } from '../../json.ts'
import { difference } from './importers.ts'
import type { Manifests } from '../manifest.ts'

/** What bun.lock lacks for `--frozen-lockfile`; null for nothing (bun.com, "Lockfile"). */
export function gapOfBun(text: string, manifests: Manifests): string | null {
  // Commas stand where JSON has none.
  const lock = parsedJson(text.replaceAll(/,(?=\s{0,40}[\]}])/g, ''))
  if (!isRecord(lock) || !isRecord(lock.workspaces)) return null
  const importers = new Map(
    Object.entries(lock.workspaces).map(([folder, entry]) => [folder, rangesOf(entry)]),
  )
  return difference(importers, manifests)
}

function rangesOf(entry: unknown): Map<string, string> {
  const { optionalDependencies, devDependencies, dependencies } = isRecord(entry) ? entry : {}
  return new Map(
    [optionalDependencies, devDependencies, dependencies].flatMap((each) => Object.entries(textsOf(each))),
  )
}
