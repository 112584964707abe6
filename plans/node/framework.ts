import type { Tree } from '../source/tree.ts'
import { readConfiguration, type Framework, type KnownFramework } from './frameworks.ts'
import type { Manifest } from './manifest.ts'
import { SERVER_FRAMEWORKS } from './server-frameworks.ts'
import { SITE_FRAMEWORKS } from './site-frameworks.ts'

const KNOWN: KnownFramework[] = [...SERVER_FRAMEWORKS, ...SITE_FRAMEWORKS]

/** Returns the framework that package.json names, as the project has configured it; or null. */
export async function frameworkOf(
  tree: Tree,
  manifest: Manifest,
  notes: string[] = [],
): Promise<Framework | null> {
  for (const known of KNOWN) {
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
