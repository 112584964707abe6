import type { PlanSettings } from './plan.ts'
import { linesOf } from './source/text.ts'
import type { Tree } from './source/tree.ts'

/** Debian Policy Manual, 5.6.1: the names of packages. */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]+$/

/** Whether a text is the name of a package. */
function isPackageName(text: string): boolean {
  return PACKAGE_NAME.test(text)
}

/** The limit of a service's own list. */
const MAX_PACKAGES = 50

/**
 * Returns the Debian packages that the service and the tree's `Aptfile` ask for; notes name the lines of the file that are
 * not used.
 */
export async function aptPackagesOf(tree: Tree, settings: PlanSettings, notes: string[]): Promise<string[]> {
  const names = new Set(settings.aptPackages)
  for (const line of linesOf((await tree.readText('Aptfile')) ?? '')) {
    const name = line.trim()
    if (name === '' || name.startsWith('#')) continue
    if (isPackageName(name) && names.size < MAX_PACKAGES) names.add(name)
    else
      notes.push(
        `the line ${JSON.stringify(name.slice(0, 100))} of the Aptfile is not the name of a Debian package`,
      )
  }
  const packages = [...names]
  if (packages.length > 0) notes.push(`installing the Debian packages ${packages.join(', ')}`)
  return packages
}
