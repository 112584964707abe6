import type { PlannedVariable } from './plan.ts'
import { linesOf } from './source/text.ts'
import type { Tree } from './source/tree.ts'

/** Variables that every build has. */
const ALWAYS_THERE = new Set(['HOME', 'PATH', 'PORT', 'PWD', 'USER', 'NODE_ENV', 'TMPDIR'])

/** More of them were not written by a person. */
const MAX_VARIABLES = 20

/** Files that configure how packages are installed, with what begins a comment in each. */
const FILES: [name: string, comment: RegExp][] = [
  ['.npmrc', /^\s*[#;]/],
  ['.yarnrc.yml', /^\s*#/],
  ['requirements.txt', /^\s*#/],
]

/**
 * Returns the variables that are needed to install packages from a private registry: `_authToken=${NPM_TOKEN}` (npm,
 * "npmrc"; pip, "Requirements File Format").
 */
export async function registryVariables(tree: Tree): Promise<PlannedVariable[]> {
  const found: PlannedVariable[] = []
  for (const [name, comment] of FILES) {
    for (const line of linesOf((await tree.readText(name)) ?? '')) {
      if (comment.test(line)) continue
      // A variable with a default, or one that may be missing, has another character after its name.
      for (const [, key] of line.matchAll(/\$\{((?!DEPLOYER_)[A-Z][A-Z0-9_]{0,100})\}/g)) {
        if (ALWAYS_THERE.has(key!) || found.some((each) => each.key === key)) continue
        if (found.length < MAX_VARIABLES)
          found.push({ key: key!, generate: null, why: `${name} names it for the registry of packages` })
      }
    }
  }
  return found
}
