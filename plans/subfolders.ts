import { hasScript } from './node/manifest.ts'
import { otherDockerfile } from './source/dockerfiles.ts'
import type { Tree } from './source/tree.ts'

/** How many folders are searched, and how many choices a person is given. */
const MAX_FOLDERS = 40
const MAX_CHOICES = 10

/** Folders that by convention hold only programs, and folders that hold libraries as well. */
const PROGRAM_FOLDERS = new Set(['apps', 'services', 'projects'])
const LIBRARY_FOLDERS = new Set(['packages', 'libs'])

function holdsMany(name: string): boolean {
  return PROGRAM_FOLDERS.has(name) || LIBRARY_FOLDERS.has(name)
}

/** Folders of third-party packages. */
const THIRD_PARTY_FOLDERS = new Set(['node_modules', 'vendor'])

/** Folders that accompany a program; they are offered only where there is nothing else. */
const ACCOMPANYING = /(?:^|\/)(?:docs?|tests?|e2e|examples?|samples?)$/

/** A folder that can be built, with the runtime that builds it. */
export interface Subfolder {
  folder: string
  runtime: string
}

/** Returns the runtime that a tree would have; null for none. */
type RuntimeOf = (tree: Tree) => Promise<string | null>

/** Lists folders for a message: `backend (python), frontend (node)`. */
export function listFolders(below: readonly Subfolder[]): string {
  return below.map(({ folder, runtime }) => `${folder} (${runtime})`).join(', ')
}

/**
 * Returns the folders directly below the root that can be built, those inside a folder for programs (`apps/`), and those one
 * level down next to them; where there are none, any one level down.
 */
export async function programsBelow(tree: Tree, runtimeOf: RuntimeOf): Promise<Subfolder[]> {
  const first = await foldersIn(tree, '.')
  const second = await Promise.all(
    first.slice(0, MAX_FOLDERS).map(async (name) => [name, await foldersIn(tree, name)] as const),
  )
  const inside = (names: readonly (readonly [string, string[]])[]): string[] =>
    names.flatMap(([name, folders]) => folders.map((each) => `${name}/${each}`))
  const among = (isOf: (name: string) => boolean): string[] => inside(second.filter(([name]) => isOf(name)))
  const usual = [
    ...among((name) => PROGRAM_FOLDERS.has(name)),
    ...first,
    ...among((name) => LIBRARY_FOLDERS.has(name)),
  ]
  for (const folders of [usual.filter((each) => !ACCOMPANYING.test(each)), usual]) {
    const found = await buildable(tree, folders, runtimeOf)
    if (found.length === 0) continue
    const names = new Set(found.map(({ folder }) => folder))
    const isPlain = (name: string): boolean =>
      !names.has(name) && !ACCOMPANYING.test(name) && !holdsMany(name)
    const nextTo = among(isPlain).filter((each) => !ACCOMPANYING.test(each))
    return [...found, ...(await buildable(tree, nextTo, runtimeOf))].slice(0, MAX_CHOICES)
  }
  return await buildable(tree, inside(second), runtimeOf)
}

async function buildable(tree: Tree, folders: readonly string[], runtimeOf: RuntimeOf): Promise<Subfolder[]> {
  const found: Subfolder[] = []
  for (const folder of folders.slice(0, MAX_FOLDERS)) {
    const below = tree.folder(folder)
    const runtime = await builtBy(below, runtimeOf)
    const isLibrary =
      folder.includes('/') &&
      LIBRARY_FOLDERS.has(folder.split('/', 1)[0]!) &&
      runtime === 'node' &&
      !(await hasScript(below, 'start'))
    if (runtime !== null && !isLibrary) found.push({ folder, runtime })
    if (found.length === MAX_CHOICES) break
  }
  return found
}

/** Returns the runtime that builds a folder; a Dockerfile of another name counts where nothing else can build it. */
async function builtBy(below: Tree, runtimeOf: RuntimeOf): Promise<string | null> {
  if (await below.hasFile('Dockerfile')) return 'docker'
  return (await runtimeOf(below)) ?? ((await otherDockerfile(below)) === null ? null : 'docker')
}

async function foldersIn(tree: Tree, path: string): Promise<string[]> {
  const names = await tree.list(path)
  const folders = names.flatMap((name) =>
    name.endsWith('/') && !name.startsWith('.') ? [name.slice(0, -1)] : [],
  )
  return folders.filter((name) => !THIRD_PARTY_FOLDERS.has(name))
}
