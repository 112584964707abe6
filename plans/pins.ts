import { linesOf } from './source/text.ts'
import type { Tree } from './source/tree.ts'

/** A version that a tree asks for, as it is written there. */
export interface Pin {
  text: string
  /** The file, for notes and errors. */
  where: string
}

/** Looks for a pin in one place; the first place that has one wins. */
export type PinReader = () => Promise<Pin | null>

/** Returns the first pin of several places. */
export async function firstPin(readers: readonly PinReader[]): Promise<Pin | null> {
  for (const read of readers) {
    const pin = await read()
    if (pin !== null && !UNTOLD.has(pin.text)) return pin
  }
  return null
}

/** Words that ask for no particular version. */
const UNTOLD = new Set(['latest', 'system', 'stable'])

/** Reads files that contain only a version: the first line that is neither empty nor a comment. */
export function inFiles(tree: Tree, files: readonly string[]): PinReader {
  return async () => {
    for (const where of files) {
      for (const line of linesOf((await tree.readText(where)) ?? '')) {
        const text = line.split('#', 1)[0]!.trim()
        if (text !== '') return { text, where }
      }
    }
    return null
  }
}

/** A pin in a manifest that was already read. */
export function inManifest(text: string | null | undefined, where: string): PinReader {
  return async () => (text === null || text === undefined || text.trim() === '' ? null : { text, where })
}

/** Reads the files of asdf and mise, which name the versions of all languages, for a tool known by any of `names`. */
export function inToolFiles(tree: Tree, names: readonly string[]): PinReader {
  return async () => (await inToolVersions(tree, names)) ?? (await inMise(tree, names))
}

/** `nodejs 22.1.0 20.9.0`: the first version is used (asdf, "Configuration"). */
async function inToolVersions(tree: Tree, names: readonly string[]): Promise<Pin | null> {
  const where = '.tool-versions'
  for (const line of linesOf((await tree.readText(where)) ?? '')) {
    const [name, text] = line
      .split('#', 1)[0]!
      .trim()
      .split(/[ \t]+/)
    if (text !== undefined && names.includes(name!)) return { text, where }
  }
  return null
}

/** In the order in which mise reads them (mise, "Configuration"). */
const MISE_FILES = ['mise.toml', '.mise.toml', 'mise/config.toml', '.mise/config.toml', '.config/mise.toml']

/** `node = "22"`, `node = ["22", "20"]` or `node = { version = "22" }` below `[tools]`. */
async function inMise(tree: Tree, names: readonly string[]): Promise<Pin | null> {
  for (const where of MISE_FILES) {
    let table = ''
    for (const line of linesOf((await tree.readText(where)) ?? '')) {
      const text = line.trim()
      if (text.startsWith('[')) table = text
      const equals = text.indexOf('=')
      if (table !== '[tools]' || equals === -1) continue
      const version = quotedIn(text.slice(equals + 1))
      if (version !== null && names.includes(text.slice(0, equals).trim().replaceAll('"', '')))
        return { text: version, where }
    }
  }
  return null
}

/** Returns the first quoted text. */
export function quotedIn(text: string): string | null {
  const start = text.search(/["']/)
  if (start === -1) return null
  const end = text.indexOf(text[start]!, start + 1)
  return end === -1 ? null : text.slice(start + 1, end)
}
