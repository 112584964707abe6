import { realpathSync, statSync } from 'node:fs'
import { Fault, EXIT, wrong } from '../../fault.ts'
import { dockerfileOf, type BuildSettings } from './dockerfile.ts'
import type { Contents } from './entries.ts'
import { Rules } from './rules.ts'
import { walk } from './walk.ts'

/** The real path of a folder to deploy. Throws Fault if it is none. */
export function folderAt(path: string): string {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) throw wrong(`there is no folder ${path}`)
  if (!facts.isDirectory()) throw wrong(`${path} is not a folder; name the one that it is in`)
  return realpathSync.native(path)
}

/** What is deployed of a folder, by its ignore files and how it will be built. Throws Fault if that is nothing, or cannot be. */
export async function contentsOf(
  folder: string,
  settings: BuildSettings,
  { withGit, signal }: { withGit: boolean; signal?: AbortSignal },
): Promise<Contents> {
  const dockerfile = dockerfileOf(folder, settings)
  const contents = await walk(folder, new Rules(folder, { withGit, dockerfile }), signal)
  if (contents.files + contents.links === 0)
    throw new Fault(
      EXIT.wrongWords,
      `there is no file to deploy in ${folder}; --no-gitignore packs what .gitignore leaves out`,
    )
  return contents
}
