import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** The usual names of the file that `conda env export` writes. */
const FILES = ['environment.yml', 'environment.yaml']

/** A tree's list of packages for conda. */
export interface Environment {
  file: string
  /** The list as it can be installed on Linux. */
  text: string
}

/** Packages that conda has only for Windows or macOS; an export lists them with everything else. */
const OTHER_SYSTEMS =
  /^(?:vc|vc14_runtime|vs20\d\d_\S+|ucrt|win_inet_pton|wincertstore|pywin32|pywinpty|m2w64-\S+|msys2-\S+|libcxx|appnope|menuinst|console_shortcut|icc_rt)$/

/** Reads the list of a tree; null without one, or for a file of that name that is something else. */
export async function readEnvironment(tree: Tree): Promise<Environment | null> {
  for (const file of FILES) {
    const text = await tree.readText(file)
    if (text !== null && /^dependencies:/m.test(text)) return { file, text: forLinux(text) }
  }
  return null
}

/** A package as an export writes it: version and build. A build with a wildcard was written by a person. */
const EXPORTED = /^( *- +[\w./:-]+=[^=\s]+)=[^=\s*]+\s*$/

/**
 * Removes from a list what an export adds that only holds on its own system: builds (`=h2bbff1b_0`), packages of other
 * systems, the path of the environment. Every other line stays as it is: names of pip packages are the same on all systems.
 * No tool exports a list on one line (`[python, flask]`).
 */
function forLinux(text: string): string {
  const lines: string[] = []
  let isList = false
  /** The first item and its indentation, which all items share; those of `pip:` are deeper. */
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

/** Returns the name of the package of an item, possibly after a channel (`conda-forge::flask`); null for `pip:`, or none. */
function nameIn(item: string): string | null {
  const [, named = ''] = /^ *- +["']?([\w./:-]+)/.exec(item) ?? []
  return named === '' || named.endsWith(':') ? null : named.split('::').at(-1)!
}
