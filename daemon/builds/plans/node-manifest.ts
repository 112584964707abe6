import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { isRecord, textsOf } from './json.ts'

/** What the plan needs of a package.json. */
export interface Manifest {
  scripts: Record<string, string>
  main: string | null
  /** The range of `engines.node`. */
  nodeRange: string | null
  /** Such as `pnpm@9.1.0`. */
  packageManager: string | null
  /** All kinds of dependencies that are installed, by name. */
  dependencies: Record<string, string>
  hasDevDependencies: boolean
  isWorkspace: boolean
}

/** Reads the root's package.json. Throws BuildFailure when it cannot be read. */
export async function readManifest(tree: Tree): Promise<Manifest> {
  const text = (await tree.readText('package.json')) ?? ''
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new BuildFailure(`package.json is not valid JSON (${(cause as Error).message}): correct it`, {
      cause,
    })
  }
  if (!isRecord(value)) throw new BuildFailure('package.json is not a JSON object: correct it')
  const { main, packageManager } = value
  const devDependencies = textsOf(value.devDependencies)
  return {
    scripts: textsOf(value.scripts),
    main: typeof main !== 'string' || main === '' ? null : main.replace(/^\.\//, ''),
    nodeRange: textsOf(value.engines).node ?? null,
    packageManager: typeof packageManager === 'string' ? packageManager : null,
    dependencies: {
      ...textsOf(value.optionalDependencies),
      ...devDependencies,
      ...textsOf(value.dependencies),
    },
    hasDevDependencies: Object.keys(devDependencies).length > 0,
    isWorkspace: value.workspaces !== undefined,
  }
}
