import { posix } from 'node:path'
import type { Tree } from '../source/tree.ts'
import type { PackageManager } from './managers.ts'
import type { Manifest } from './manifest.ts'
import type { Project } from './project.ts'
import { callsOf } from './scripts.ts'
import { quoted, runInMember } from './workspace.ts'

const SCHEMA = 'prisma/schema.prisma'

/** Scripts that run before the client is needed. */
const BEFORE = ['postinstall', 'prebuild', 'build']

/** Names of scripts are written into commands unescaped. */
const PLAIN_SCRIPT = /^\w[\w:.-]*$/

/**
 * Returns the commands that write Prisma's client where no script does: the package's own script does it at installation,
 * when the schema is not there yet, and only for the root (Prisma, "Generating Prisma Client"); null for none.
 */
export async function prismaGeneration(project: Project, manager: PackageManager): Promise<string | null> {
  const { root, rootManifest, manifest, folder, packages, needed } = project
  if (folder === '')
    return 'prisma' in manifest.dependencies && (await lacksClient(root, '', manifest))
      ? 'prisma generate'
      : null
  const commands: string[] = []
  for (const path of needed) {
    const each = packages.get(path)!
    const tools = { ...rootManifest.dependencies, ...each.dependencies }
    if (!('prisma' in tools) || !(await lacksClient(root, path, each))) continue
    const script = Object.keys(each.scripts).find(
      (name) => PLAIN_SCRIPT.test(name) && isGeneration(each.scripts[name]!),
    )
    commands.push(
      script === undefined
        ? `(cd ${quoted(path)} && PATH="node_modules/.bin:$PATH" prisma generate)`
        : runInMember(manager, path, each, script),
    )
  }
  return commands.length === 0 ? null : commands.join(' && ')
}

/** Whether a script does nothing else. */
function isGeneration(script: string): boolean {
  const calls = callsOf(script, {})
  return calls.length === 1 && calls[0]!.slice(0, 2).join(' ') === 'prisma generate'
}

/** Whether a package has a schema, and no script of its own that runs Prisma before the client is needed. */
async function lacksClient(
  root: Tree,
  folder: string,
  { scripts, dependencies }: Manifest,
): Promise<boolean> {
  if (!('@prisma/client' in dependencies)) return false
  const calls = BEFORE.flatMap((name) => callsOf(scripts[name] ?? '', scripts))
  if (calls.some(([program]) => program === 'prisma')) return false
  return await root.hasFile(posix.join(folder, SCHEMA))
}
