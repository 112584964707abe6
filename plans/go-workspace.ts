import { linesOf } from './text.ts'

/** More modules are none that a person would choose from. */
const MAX_MODULES = 50

/** The folders that a go.work names, each in a line of its own or in a block of `use` (Go modules reference, "Workspaces"). */
export function modulesOf(workspace: string): string[] {
  const folders: string[] = []
  for (const line of linesOf(workspace)) {
    const folder = /^\s*(?:use\s+)?\.\/([\w.-]+(?:\/[\w.-]+)*)\/?\s*$/.exec(line)?.[1]
    if (folder !== undefined) folders.push(folder)
  }
  return folders.slice(0, MAX_MODULES)
}
