import { readManifest } from '../node/manifest.ts'
import { MANAGERS } from '../node/scripts.ts'
import type { Tree } from '../tree.ts'

/** The scripts of a tree's package.json; none where there is none. */
export async function scriptsOf(tree: Tree): Promise<Record<string, string>> {
  return (await tree.hasFile('package.json')) ? (await readManifest(tree)).scripts : {}
}

/** One script with its arguments, run by a package manager. */
const RUN = /^(npm|pnpm|yarn|bun)((?: run| run-script)?) ([\w:.-]+)((?: [^&|;<>()]*)?)$/

/**
 * A command whose parts run scripts by a package manager that the image lacks, such as `pnpm build:prod` beside a lock
 * file of npm, with the image's own in its place. An image of node has npm beside any other.
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
      // Bun's own commands come before scripts of their names, npm's and pnpm's as well.
      const isScript = isOther && (run !== '' || (program !== 'npm' && program !== 'bun') || name === 'start')
      isChanged ||= isScript
      return isScript ? `${manager} run ${name!}${argumentsFor(manager, rest!)}` : part.trim()
    })
    .join(' && ')
  return isChanged ? changed : command
}

/** Arguments of a script: npm takes those without `--` before them for its own, the others pass `--` on. */
function argumentsFor(manager: string, text: string): string {
  const plain = text.trim().replace(/^--(?: +|$)/, '')
  if (plain === '') return ''
  return manager === 'npm' ? ` -- ${plain}` : ` ${plain}`
}
