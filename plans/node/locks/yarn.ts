import { hasLine, linesOf } from '../../source/text.ts'
import type { Manifests } from '../manifest.ts'
import { difference } from './importers.ts'

/** Yarn writes it since version 2, followed by the version of its format. */
const METADATA = /^__metadata:/

/** Returns what yarn.lock lacks for `--frozen-lockfile` or `--immutable`; null for nothing (yarnpkg.com, "yarn install"). */
export function gapOfYarn(text: string, manifests: Manifests): string | null {
  return hasLine(text, METADATA) ? difference(workspacesOf(text), manifests) : gapOfClassic(text, manifests)
}

/** An entry begins with all ranges that it resolves: `a@^1, "@b/c@^1.2":`. */
function gapOfClassic(text: string, manifests: Manifests): string | null {
  const answered = new Set<string>()
  for (const line of linesOf(text)) {
    if (!/^[^\s#].*:$/.test(line)) continue
    for (const each of line.slice(0, -1).replaceAll('"', '').split(',')) answered.add(each.trim())
  }
  const names = new Set([...answered].map((each) => each.slice(0, each.lastIndexOf('@'))))
  const own = new Set([...manifests.values()].map(({ name }) => name))
  for (const { dependencies } of manifests.values()) {
    for (const [name, range] of Object.entries(dependencies)) {
      // Packages of the tree are written in many ways, or not at all.
      if (own.has(name) || /[:/]/.test(range) || answered.has(`${name}@${range}`)) continue
      return names.has(name) ? `it has ${name}, but not for ${range} of package.json` : `it lacks ${name}`
    }
  }
  return null
}

/** The entries of the tree's own packages, `"app@workspace:apps/web":`, repeat their dependencies. */
function workspacesOf(text: string): Map<string, Map<string, string>> {
  const workspaces = new Map<string, Map<string, string>>()
  let ranges: Map<string, string> | null = null
  let isList = false
  for (const line of linesOf(text)) {
    if (!line.startsWith(' ')) {
      const folder = /@workspace:([^",]+)"?:$/.exec(line)?.[1]
      ranges = folder === undefined ? null : new Map<string, string>()
      if (ranges !== null) workspaces.set(folder === '.' ? '' : folder!, ranges)
      isList = false
    } else if (!line.startsWith('    ')) isList = line === '  dependencies:'
    else if (isList && ranges !== null) {
      const [name, range] = line
        .replaceAll('"', '')
        .trim()
        .split(/: (.*)/)
      if (range !== undefined) ranges.set(name!, range)
    }
  }
  return workspaces
}
