import { linesOf } from '../source/text.ts'

/** A workspace with more modules offers no useful choice. */
const MAX_MODULES = 50

/**
 * Returns the folders that a go.work names, each on its own line or in a `use` block (Go modules reference, "Workspaces").
 */
export function modulesOf(workspace: string): string[] {
  const folders: string[] = []
  for (const line of linesOf(workspace)) {
    const folder = /^\s*(?:use\s+)?\.\/([\w.-]+(?:\/[\w.-]+)*)\/?\s*$/.exec(line)?.[1]
    if (folder !== undefined) folders.push(folder)
  }
  return folders.slice(0, MAX_MODULES)
}
