import type { Tree } from '../../sources/tree.ts'
import { linesOf } from '../text.ts'
import { at, readRecord, textsIn } from './hosts/host-file.ts'

/** A version that a tree asks for, as it is written there. */
export interface Pin {
  text: string
  /** The file, for a note or a refusal. */
  where: string
}

/** Looks for a pin in one place; the first place that has one wins. */
export type PinReader = () => Promise<Pin | null>

/** The first pin of several places. */
export async function firstPin(readers: readonly PinReader[]): Promise<Pin | null> {
  for (const read of readers) {
    const pin = await read()
    if (pin !== null && !UNTOLD.has(pin.text)) return pin
  }
  return null
}

/** Versions of these words say nothing that a plan would not choose itself. */
const UNTOLD = new Set(['latest', 'system', 'stable'])

/** Reads files that hold a version alone: the first line with text that is no comment. */
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

/** A pin that stands in a manifest which was read already. */
export function inManifest(text: string | null | undefined, where: string): PinReader {
  return async () => (text === null || text === undefined || text.trim() === '' ? null : { text, where })
}

/**
 * Reads the files of asdf, mise, Railpack and Nixpacks, which name versions of all languages, for a tool that goes by any of
 * `names`.
 */
export function inToolFiles(tree: Tree, names: readonly string[]): PinReader {
  return async () =>
    (await inToolVersions(tree, names)) ??
    (await inMise(tree, names)) ??
    (await inRailpack(tree, names)) ??
    (await inNixpacks(tree, names))
}

/** What is no plain version there means nothing to an image. */
const PLAIN_VERSION = /^\d+(?:\.\d+){0,2}$/

/** `"packages": {"node": "22"}`, by the names of mise. */
async function inRailpack(tree: Tree, names: readonly string[]): Promise<Pin | null> {
  const where = 'railpack.json'
  const packages = at(await readRecord(tree, where, []), 'packages')
  const text = names.map((name) => at(packages, name)).find((each) => typeof each === 'string')
  return typeof text === 'string' && PLAIN_VERSION.test(text) ? { text, where } : null
}

/** Nix's names of languages, with the version behind them: `nodejs_22`, `python311`, `go_1_22`, `jdk17`. */
const NIX_PACKAGE = /^(nodejs|python|php|ruby|go|jdk|openjdk)[-_]?(\d+(?:_\d+)?)(?:_x)?$/
const NIX_NAMES: Record<string, string> = { nodejs: 'node', jdk: 'java', openjdk: 'java' }
/** Written without a sign between the parts. */
const RUN_TOGETHER = /^(\d)(\d+)$/

async function inNixpacks(tree: Tree, names: readonly string[]): Promise<Pin | null> {
  const where = 'nixpacks.toml'
  for (const each of textsIn(at(await readRecord(tree, where, []), 'phases', 'setup', 'nixPkgs'))) {
    const [, nix, version] = NIX_PACKAGE.exec(each) ?? []
    if (nix === undefined || !names.includes(Object.hasOwn(NIX_NAMES, nix) ? NIX_NAMES[nix]! : nix)) continue
    const isTogether = nix === 'python' || nix === 'php'
    const text = isTogether ? version!.replace(RUN_TOGETHER, '$1.$2') : version!.replace('_', '.')
    if (!isTogether || text.includes('.')) return { text, where }
  }
  return null
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

/** The first text in quotes. */
export function quotedIn(text: string): string | null {
  const start = text.search(/["']/)
  if (start === -1) return null
  const end = text.indexOf(text[start]!, start + 1)
  return end === -1 ? null : text.slice(start + 1, end)
}
