import { memberFolders } from '../source/folders.ts'
import { isRecord } from '../source/json.ts'
import { findInLines, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** A longer manifest was not written by a person. */
const MAX_CHARACTERS = 256 * 1024

/** What the plan needs to know of a Cargo.toml and of those of its workspace. */
export interface Crates {
  /** The program that the root names as its default. */
  defaultRun: string | null
  /** The root's own package. */
  rootName: string | undefined
  /** All programs by name, each with the manifest of its crate. */
  programs: ReadonlyMap<string, string>
  /** All manifests, joined. */
  text: string
}

/** Reads the crates of a tree (The Cargo Book, "Workspaces" and "Cargo Targets"). */
export async function readCrates(tree: Tree): Promise<Crates> {
  const root = (await tree.readText('Cargo.toml')) ?? ''
  const texts = [root]
  const programs = new Map<string, string>()
  for (const name of await programsOf(tree, root)) programs.set(name, root)
  for (const folder of await membersIn(tree, root)) {
    const text = (await tree.readText(`${folder}/Cargo.toml`)) ?? ''
    texts.push(text)
    for (const name of await programsOf(tree.folder(folder), text)) programs.set(name, text)
  }
  return {
    defaultRun: findInLines(root, /^default-run\s*=\s*"([\w-]+)"/) ?? null,
    rootName: namesOf(root).name,
    programs,
    text: texts.join('\n'),
  }
}

/** Returns the folders of a workspace's members. */
export async function membersIn(tree: Tree, root: string): Promise<string[]> {
  return await memberFolders(tree, membersOf(root), 'Cargo.toml')
}

/** Whether a manifest names a crate among its dependencies. */
export function namesCrate(manifest: string, name: string): boolean {
  for (const line of linesOf(manifest)) {
    const text = line.trim()
    const isNamed = text.startsWith(`${name} `) || text.startsWith(`${name}=`) || text.startsWith(`${name}.`)
    if (isNamed || text === `[dependencies.${name}]`) return true
  }
  return false
}

/**
 * Returns the dependencies of a crate on any system, without those of its tests and its build script; none where the
 * manifest is not valid TOML.
 */
export async function dependenciesOf(manifest: string): Promise<ReadonlySet<string>> {
  if (manifest.length > MAX_CHARACTERS) return new Set()
  const { parse } = await import('smol-toml')
  try {
    const root: Record<string, unknown> = parse(manifest)
    const systems = isRecord(root.target) ? Object.values(root.target) : []
    const tables = [root, ...systems].flatMap((each) => (isRecord(each) ? [each.dependencies] : []))
    return new Set(tables.filter(isRecord).flatMap((each) => Object.keys(each)))
  } catch {
    return new Set()
  }
}

/** Returns the list `members` of the table `[workspace]`, which may span several lines. */
function membersOf(manifest: string): string[] {
  const members: string[] = []
  let table = ''
  let isList = false
  for (const line of linesOf(manifest)) {
    const text = line.split('#', 1)[0]!.trim()
    if (!isList && text.startsWith('[')) table = text
    if (table === '[workspace]' && /^members\s*=/.test(text)) isList = true
    if (!isList) continue
    for (const [, member] of text.matchAll(/"([^"]*)"/g)) members.push(member!)
    if (text.endsWith(']')) isList = false
  }
  return members
}

/**
 * Returns the programs of one crate: each `[[bin]]`, each file of `src/bin/`, and the package itself if `src/main.rs`
 * belongs to it.
 */
async function programsOf(tree: Tree, manifest: string): Promise<string[]> {
  const { programs, name, takesMain } = namesOf(manifest)
  const isProgram = name !== undefined && !takesMain && (await tree.hasFile('src/main.rs'))
  const others = (await tree.list('src/bin'))
    .map((entry) => /^([\w-]+)(?:\.rs|\/)$/.exec(entry)?.[1])
    .filter((entry) => entry !== undefined)
  return [...programs, ...(isProgram ? [name] : []), ...others]
}

/** Returns the names in the tables `[[bin]]` and `[package]`, and whether a `[[bin]]` is built from `src/main.rs`. */
function namesOf(manifest: string): { programs: string[]; name: string | undefined; takesMain: boolean } {
  const programs: string[] = []
  let name: string | undefined
  let takesMain = false
  let table = ''
  for (const line of linesOf(manifest)) {
    const text = line.trim()
    if (text.startsWith('[')) table = text
    const isProgram = table.startsWith('[[bin]]')
    const named = /^name\s*=\s*"([\w-]+)"/.exec(text)?.[1]
    if (named !== undefined && isProgram) programs.push(named)
    if (named !== undefined && table.startsWith('[package]')) name ??= named
    if (isProgram && /^path\s*=\s*"(?:\.\/)?src\/main\.rs"/.test(text)) takesMain = true
  }
  return { programs, name, takesMain }
}
