import { z } from 'zod'
import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'

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

/** Fields of another type than they should have count as missing, as they do for npm. */
const texts = z.record(z.string(), z.unknown()).catch({})
const Package = z.object({
  scripts: texts,
  main: z.string().nullable().catch(null),
  engines: texts,
  packageManager: z.string().nullable().catch(null),
  dependencies: texts,
  devDependencies: texts,
  optionalDependencies: texts,
  workspaces: z.unknown().optional(),
})

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
  const parsed = Package.safeParse(value)
  if (!parsed.success) throw new BuildFailure('package.json is not a JSON object: correct it')
  const { scripts, main, engines, packageManager, workspaces, ...kinds } = parsed.data
  const devDependencies = onlyText(kinds.devDependencies)
  return {
    scripts: onlyText(scripts),
    main: main === null || main === '' ? null : main.replace(/^\.\//, ''),
    nodeRange: onlyText(engines).node ?? null,
    packageManager,
    dependencies: {
      ...onlyText(kinds.optionalDependencies),
      ...devDependencies,
      ...onlyText(kinds.dependencies),
    },
    hasDevDependencies: Object.keys(devDependencies).length > 0,
    isWorkspace: workspaces !== undefined,
  }
}

function onlyText(record: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
