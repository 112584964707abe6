import type { Tree } from '../source/tree.ts'
import { readConfiguration, type Framework, type KnownFramework } from './frameworks.ts'
import type { Manifest } from './manifest.ts'
import { callsOf, type Call } from './scripts.ts'
import { SERVER_FRAMEWORKS } from './server-frameworks.ts'
import { SITE_FRAMEWORKS } from './site-frameworks.ts'

const KNOWN: KnownFramework[] = [...SERVER_FRAMEWORKS, ...SITE_FRAMEWORKS]

/**
 * Returns the framework that package.json names, as the project has configured it; or null. A package of a workspace may
 * leave its tools to the root: then it is the one whose program its build calls.
 */
export async function frameworkOf(
  tree: Tree,
  manifest: Manifest,
  notes: string[] = [],
  root: Manifest | null = null,
): Promise<Framework | null> {
  const own = await firstOf(KNOWN, tree, manifest, notes)
  if (own !== null || root === null) return own
  const calls = callsOf(manifest.scripts.build ?? '', manifest.scripts)
  const called = KNOWN.filter((known) => calls.some((call) => isBuiltBy(known, call)))
  const dependencies = { ...root.dependencies, ...manifest.dependencies }
  return await firstOf(called, tree, { ...manifest, dependencies }, notes)
}

/** Whether a call builds with a framework by its own program, rather than that of a tool which others use too. */
function isBuiltBy({ build, packages }: KnownFramework, call: Call): boolean {
  const [program, command] = (build ?? '').split(' ')
  const isOwn = packages.some((name) => name.replace(/^@/, '').split('/').includes(program!))
  return isOwn && call[0] === program && call[1] === command
}

async function firstOf(
  frameworks: readonly KnownFramework[],
  tree: Tree,
  manifest: Manifest,
  notes: string[],
): Promise<Framework | null> {
  for (const known of frameworks) {
    if (!known.packages.some((name) => name in manifest.dependencies)) continue
    const configuration = await readConfiguration(tree, known.configuration)
    const hasNothing = configuration === '' && manifest.scripts.build === undefined
    if (known.page !== null && hasNothing && !(await tree.hasFile(known.page))) continue
    if (known.folders.length > 0 && hasNothing && !(await hasAnyFolder(tree, known.folders))) continue
    const refined =
      known.refine === undefined ? {} : await known.refine({ tree, manifest, configuration, notes })
    if (refined !== null) return { ...known, ...refined }
  }
  return null
}

async function hasAnyFolder(tree: Tree, folders: string[]): Promise<boolean> {
  for (const folder of folders) if (await tree.hasFolder(folder)) return true
  return false
}
