import { BuildFailure } from '../source/failure.ts'
import { isRecord, textsOf } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'

/** A tool that `devEngines` names. */
export interface DevelopmentEngine {
  name: string
  version: string | null
}

/** What the plan needs to know of a package.json. */
export interface Manifest {
  name: string | null
  scripts: Record<string, string>
  main: string | null
  /** The same for modules, as `bun init` writes it. */
  module: string | null
  /** Ranges by tool: node, npm, pnpm, yarn. */
  engines: Record<string, string>
  /** Versions by tool, from Volta. */
  volta: Record<string, string>
  devEngines: { runtime: DevelopmentEngine | null; packageManager: DevelopmentEngine | null }
  /** Such as `pnpm@9.1.0`. */
  packageManager: string | null
  /** All kinds of dependencies that are installed, by name. */
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  /** The patterns of a workspace's folders; null for none. */
  workspaces: string[] | null
  /** The whole file, parsed. */
  value: Record<string, unknown>
}

/** The package.json files of a project by their folders; the root's is empty. */
export type Manifests = ReadonlyMap<string, Manifest>

/** Reads a package.json. Throws BuildFailure when it cannot be read. */
export async function readManifest(tree: Tree, path = 'package.json'): Promise<Manifest> {
  const text = (await tree.readText(path)) ?? ''
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new BuildFailure(`${path} is not valid JSON (${(cause as Error).message}): correct it`, { cause })
  }
  if (!isRecord(value)) throw new BuildFailure(`${path} is not a JSON object: correct it`)
  if (await tree.isUtf16(path))
    throw new BuildFailure(`${path} is written in UTF-16, which node does not read: save it as UTF-8`)
  const devDependencies = textsOf(value.devDependencies)
  return {
    name: textOrNull(value.name),
    scripts: textsOf(value.scripts),
    main: textOrNull(value.main)?.replace(/^\.\//, '') ?? null,
    module: textOrNull(value.module)?.replace(/^\.\//, '') ?? null,
    engines: textsOf(value.engines),
    volta: textsOf(value.volta),
    devEngines: enginesOf(value.devEngines),
    packageManager: textOrNull(value.packageManager),
    dependencies: {
      ...textsOf(value.optionalDependencies),
      ...devDependencies,
      ...textsOf(value.dependencies),
    },
    devDependencies,
    workspaces: patternsOf(value.workspaces),
    value,
  }
}

/** Whether a tree of any language has a package.json with a script of that name; an invalid file has none. */
export async function hasScript(tree: Tree, name: string): Promise<boolean> {
  if (!(await tree.hasFile('package.json'))) return false
  try {
    return name in (await readManifest(tree)).scripts
  } catch (error) {
    if (error instanceof BuildFailure) return false
    throw error
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function enginesOf(value: unknown): Manifest['devEngines'] {
  const engines = isRecord(value) ? value : {}
  return { runtime: engineOf(engines.runtime), packageManager: engineOf(engines.packageManager) }
}

/** Returns the only tool, or the first of a list (npm, package.json, "devEngines"). */
function engineOf(value: unknown): DevelopmentEngine | null {
  const { name, version } = textsOf(Array.isArray(value) ? value[0] : value)
  return name === undefined ? null : { name, version: version ?? null }
}

/** Returns a list, also from an object with `packages` (yarn 1, "Workspaces"). */
function patternsOf(value: unknown): string[] | null {
  const list = isRecord(value) ? value.packages : value
  return Array.isArray(list) ? list.filter((pattern) => typeof pattern === 'string') : null
}
