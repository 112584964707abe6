import type { Tree } from '../../../sources/tree.ts'
import { linesOf } from '../../text.ts'

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

/**
 * The list without what an export adds that holds for the system it was made on: builds (`=h2bbff1b_0`), packages of
 * other systems, the place of the environment. What pip installs is named for all systems alike.
 */
function forLinux(text: string): string {
  const lines: string[] = []
  let isList = false
  let hasPip = false
  for (const line of linesOf(text)) {
    if (/^\S/.test(line)) isList = line.startsWith('dependencies:')
    if (line.startsWith('prefix:')) continue
    const [, start = '', name = '', version = ''] =
      /^( {0,8}- ?)([\w.-]+)((?: ?[<>=!~][^=\s]*)?)/.exec(isList ? line : '') ?? []
    if (name === '' || line.includes('==')) lines.push(line)
    else if (name === 'pip') {
      lines.push(line)
      hasPip = true
    } else if (!OTHER_SYSTEMS.test(name)) lines.push(`${start}${name}${version}`)
  }
  const pip = hasPip ? [] : ['  - pip']
  return `${lines.flatMap((line) => (line.startsWith('dependencies:') ? [line, ...pip] : [line])).join('\n')}\n`
}
