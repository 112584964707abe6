import { readManifest } from '../node/manifest.ts'
import { MANAGERS } from '../node/scripts.ts'
import type { Tree } from '../source/tree.ts'

/** Returns the scripts of a tree's package.json; none without one. */
export async function scriptsOf(tree: Tree): Promise<Record<string, string>> {
  return (await tree.hasFile('package.json')) ? (await readManifest(tree)).scripts : {}
}

/** A script with its arguments, run by a package manager. */
const RUN = /^(npm|pnpm|yarn|bun)((?: run| run-script)?) ([\w:.-]+)((?: [^&|;<>()]*)?)$/

/**
 * Replaces a package manager that the image lacks by the image's own where a command runs scripts, such as `pnpm build:prod`
 * next to a lock file of npm. An image of node also has npm.
 */
export function byManager(manager: string, command: string, scripts: Record<string, string>): string {
  if (!MANAGERS.has(manager)) return command
  let isChanged = false
  const changed = command
    .split('&&')
    .map((part) => {
      const [, program, run, name, rest] = RUN.exec(part.trim()) ?? []
      const isThere = program === manager || (program === 'npm' && manager !== 'bun')
      const isOther = program !== undefined && !isThere && Object.hasOwn(scripts, name!)
      // Bun's built-in commands come before scripts of the same name; so do npm's and pnpm's.
      const isScript = isOther && (run !== '' || (program !== 'npm' && program !== 'bun') || name === 'start')
      isChanged ||= isScript
      return isScript ? `${manager} run ${name!}${argumentsFor(manager, rest!)}` : part.trim()
    })
    .join(' && ')
  return isChanged ? changed : command
}

/** Passes arguments to a script: npm reads those without `--` before them itself, the others pass `--` on. */
function argumentsFor(manager: string, text: string): string {
  const plain = text.trim().replace(/^--(?: +|$)/, '')
  if (plain === '') return ''
  return manager === 'npm' ? ` -- ${plain}` : ` ${plain}`
}
