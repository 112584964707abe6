import type { Tree } from '../source/tree.ts'
import type { PythonStart } from './application.ts'

/** Usual names of packages that are not the program. */
const ACCOMPANYING = /^(?:tests?|docs?|examples?|scripts?|tools?|migrations|alembic)$/

/**
 * Returns the command that runs the only package in the root that python can run by name (docs.python.org, "__main__.py in
 * Python packages"); null for several.
 */
export async function mainPackage(tree: Tree): Promise<PythonStart | null> {
  const found: string[] = []
  for (const name of await tree.list('.')) {
    const folder = name.slice(0, -1)
    if (!/^[A-Za-z_]\w*\/$/.test(name) || ACCOMPANYING.test(folder)) continue
    if (await tree.hasFile(`${folder}/__main__.py`)) found.push(folder)
  }
  return found.length === 1 ? { command: `python -m ${found[0]!}`, framework: null, packages: [] } : null
}
