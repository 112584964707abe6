import { isRecord, textsOf } from '../../source/json.ts'
import type { Manifest, Manifests } from '../manifest.ts'

/** The part of a lock file that repeats each package.json: ranges by name, by folder; the root's is empty. */
export type Importers = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Describes where the repeated ranges differ from the current ones; null where they do not. Managers in frozen mode compare
 * the same way.
 */
export function difference(
  importers: Importers,
  manifests: Manifests,
  overrides: string[] = [],
): string | null {
  const overridden = new Set([...overriddenIn(manifests.get('')), ...overrides.map(lastNameOf)])
  for (const [folder, manifest] of manifests) {
    const wanted = Object.entries(manifest.dependencies).filter(([name]) => !overridden.has(name))
    const locked = importers.get(folder)
    if (locked === undefined && wanted.length > 0) return `it lacks the packages of ${folder || 'the root'}`
    for (const [name, range] of wanted) {
      const other = locked?.get(name)
      if (other === undefined) return `it lacks ${name}`
      if (plain(other) !== plain(range)) return `it has ${name} for ${other}, and package.json wants ${range}`
    }
    const known = new Set([...Object.keys(manifest.dependencies), ...peersOf(manifest), ...overridden])
    const surplus = [...(locked?.keys() ?? [])].find((name) => !known.has(name))
    if (surplus !== undefined) return `it has ${surplus}, which package.json does not name`
  }
  return null
}

/** Yarn writes out the protocol of the registry. */
function plain(range: string): string {
  return range.replace(/^npm:/, '')
}

/** Whether peers are installed too, as the manager does by itself. */
function peersOf({ value }: Manifest): string[] {
  return Object.keys(textsOf(value.peerDependencies))
}

/**
 * Packages whose versions the root overrides for all, or for one package (npm); the override is written instead of the
 * others' ranges.
 */
export function overriddenIn(root: Manifest | undefined): ReadonlySet<string> {
  const { pnpm, overrides, resolutions } = root?.value ?? {}
  const names = new Set<string>()
  const left: unknown[] = [isRecord(pnpm) ? pnpm.overrides : null, overrides, resolutions]
  while (left.length > 0) {
    const each = left.pop()
    if (!isRecord(each)) continue
    for (const [key, value] of Object.entries(each)) {
      names.add(lastNameOf(key))
      left.push(value)
    }
  }
  return names
}

/** In `name`, `name@range`, `parent>name` and `parent/**\/name` the last name counts. */
function lastNameOf(key: string): string {
  const parts = key.split('>').at(-1)!.split('/')
  const [name, scope] = [parts.at(-1)!, parts.at(-2)]
  const plain = name.split('@', 1)[0]!
  return scope?.startsWith('@') === true ? `${scope}/${plain}` : plain
}
