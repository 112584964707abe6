import { linesOf } from '../text.ts'
import type { Tree } from '../tree.ts'

/** The files that `conda env export` writes and people name alike. */
const FILES = ['environment.yml', 'environment.yaml']

/** A tree's list of packages for conda. */
export interface Environment {
  file: string
  /** As it can be made on Linux. */
  text: string
}

/** Packages that conda has for Windows or macOS alone; an export names them with everything else. */
const OTHER_SYSTEMS =
  /^(?:vc|vc14_runtime|vs20\d\d_\S+|ucrt|win_inet_pton|wincertstore|pywin32|pywinpty|m2w64-\S+|msys2-\S+|libcxx|appnope|menuinst|console_shortcut|icc_rt)$/

/** Reads the list of a tree; null without one, or for a file of that name that is none. */
export async function readEnvironment(tree: Tree): Promise<Environment | null> {
  for (const file of FILES) {
    const text = await tree.readText(file)
    if (text !== null && /^dependencies:/m.test(text)) return { file, text: forLinux(text) }
  }
  return null
}

/** A package as an export names it: its version, and the build of it. A build with a star is a wish of a person's. */
const EXPORTED = /^( *- +[\w./:-]+=[^=\s]+)=[^=\s*]+\s*$/

/**
 * The list without what an export adds that holds for the system it was made on: builds (`=h2bbff1b_0`), packages of
 * other systems, the place of the environment. Every other line stays as it is: what pip installs is named for all systems
 * alike. A list in one line (`[python, flask]`) no tool exports.
 */
function forLinux(text: string): string {
  const lines: string[] = []
  let isList = false
  /** Where the first item stands, and its indent, which all have; those of `pip:` stand deeper. */
  let first: { at: number; indent: string } | null = null
  let hasPip = false
  for (const line of linesOf(text)) {
    if (/^[^\s#-]/.test(line)) isList = line.startsWith('dependencies:')
    if (line.startsWith('prefix:')) continue
    const indent = isList ? /^( *)- /.exec(line)?.[1] : undefined
    if (indent !== undefined) first ??= { at: lines.length, indent }
    const name = indent !== undefined && indent === first?.indent ? nameIn(line) : null
    if (name !== null && OTHER_SYSTEMS.test(name)) continue
    hasPip ||= name === 'pip'
    lines.push(name === null ? line : line.replace(EXPORTED, '$1'))
  }
  // Packages that the list does not name are installed with it.
  if (first !== null && !hasPip) lines.splice(first.at, 0, `${first.indent}- pip`)
  return lines.join('\n')
}

/** The name of the package of an item, perhaps behind a channel (`conda-forge::flask`); null for `pip:`, or none. */
function nameIn(item: string): string | null {
  const [, named = ''] = /^ *- +["']?([\w./:-]+)/.exec(item) ?? []
  return named === '' || named.endsWith(':') ? null : named.split('::').at(-1)!
}
