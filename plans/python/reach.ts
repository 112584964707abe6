import { EVERY_LINE, type Reach } from '../place.ts'
import { memberFolders } from '../source/folders.ts'
import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import { readRequirements } from './requirements.ts'

/** A longer manifest was not written by a person. */
const MAX_CHARACTERS = 256 * 1024

/** The lines of a pyproject.toml that name files of an installation; its tools have settings above it too. */
const NAMES_FILES = /\b(?:path|url|file|readme|from|include|packages)\b/

/** What an installation reads outside of a tree. */
export async function reachOf(tree: Tree): Promise<Reach> {
  const { files } = await readRequirements(tree)
  return {
    manifests: {
      ...Object.fromEntries(files.map((file) => [file, EVERY_LINE])),
      'pyproject.toml': NAMES_FILES,
      Pipfile: EVERY_LINE,
      'environment.yml': EVERY_LINE,
    },
    above: files.length === 0 && (await tree.hasFile('pyproject.toml')) ? ['pyproject.toml'] : [],
    hasAssets: true,
    isFor: async (text, below, folder) => (await membersIn(text, folder)).includes(below),
  }
}

/** Returns the members of a workspace of uv, whose root has the lock file of them all (uv, "Using workspaces"). */
async function membersIn(text: string, folder: Tree): Promise<string[]> {
  if (!text.includes('tool.uv.workspace') || text.length > MAX_CHARACTERS) return []
  const { parse } = await import('smol-toml')
  try {
    const { tool }: Record<string, unknown> = parse(text)
    const workspace = isRecord(tool) && isRecord(tool.uv) ? tool.uv.workspace : null
    if (!isRecord(workspace)) return []
    const patterns = [...textsIn(workspace.members), ...textsIn(workspace.exclude).map((each) => `!${each}`)]
    return await memberFolders(folder, patterns, 'pyproject.toml')
  } catch {
    return []
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
