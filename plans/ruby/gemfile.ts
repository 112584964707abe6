import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** What the plan needs to know of a Gemfile and its lock file. */
export interface Gemfile {
  exists: boolean
  hasLock: boolean
  /** Whether a gem is named, or is a dependency of another. */
  has: (gem: string) => boolean
  /** Whether an installation reads the Gemfile and its lock file, and nothing else of the tree. */
  isPlain: boolean
  /** The platforms of the lock file if none of them matches a build machine: Bundler then installs nothing. */
  platforms: string[]
}

/** Where Bundler looks by itself: its settings, and gems that it uses before it asks a server (Bundler, "bundle cache"). */
const OWN_FOLDERS = ['.bundle', 'vendor/cache']

/** The words of a Gemfile that only names gems. A Gemfile is a program: any other word may read a file. */
const PLAIN_WORDS = new Set(
  'source gem group platforms platform ruby do end true false nil if unless else ENV fetch'.split(' '),
)
/** Options of a gem; others name files. */
const PLAIN_OPTIONS = new Set(
  'require groups group platforms platform git github gitlab branch ref tag source optional force_ruby_platform engine engine_version'.split(
    ' ',
  ),
)

/** Reads the Gemfile of a tree and its lock file. */
export async function readGemfile(tree: Tree): Promise<Gemfile> {
  const text = await tree.readText('Gemfile')
  const lock = await tree.readText('Gemfile.lock')
  const gems = new Set<string>()
  for (const line of linesOf(`${text ?? ''}\n${lock ?? ''}`)) {
    const trimmed = line.trim()
    const named = /^gem[\s(]*["']([\w.-]+)["']/.exec(trimmed) ?? /^([\w.-]+) \(/.exec(trimmed)
    if (named) gems.add(named[1]!)
  }
  let isPlain = [...linesOf(text ?? '')].every(isPlainLine)
  for (const folder of OWN_FOLDERS) isPlain &&= !(await tree.hasFolder(folder))
  return {
    exists: text !== null,
    hasLock: lock !== null,
    platforms: lackingPlatforms(lock ?? ''),
    has: (gem) => gems.has(gem),
    isPlain,
  }
}

/** The address of a repository by its name, as `rails new` writes it. */
const GIT_SOURCE = /^\s*git_source\(:\w+\) ?\{ ?\|\w+\| ?"https:\/\/[\w.]+\/#\{\w+\}(?:\.git)?" ?\}\s*$/
/** Texts, lists of words, and symbols that are no option. */
const LITERAL = /"[^"#\\]*"|'[^'#\\]*'|%[iw][[(][\w\s/.-]*[\])]|:\w+(?= *(?:[,\])]|do\b|$))/g
/** What runs a command, what a text may compute, and a repository or a server that is a folder. */
const COMPUTED = /#\{|`|%x|\b(?:git|source)\b:?[ (=>]*["'](?!(?:https?|ssh|git):\/\/|git@)/

/** Whether a line of a Gemfile has nothing but texts, symbols, and words of Bundler that read no file. */
function isPlainLine(line: string): boolean {
  if (/^\s*#/.test(line) || GIT_SOURCE.test(line)) return true
  if (COMPUTED.test(line)) return false
  const rest = line.replaceAll(LITERAL, ' ').split('#', 1)[0]!
  for (const [word, name] of rest.matchAll(/:?([A-Za-z_]\w*):?/g)) {
    if (!(word === name ? PLAIN_WORDS : PLAIN_OPTIONS).has(name!)) return false
  }
  return true
}

/** Platforms of build machines, by Bundler's names. */
const MACHINES = ['x86_64-linux', 'aarch64-linux']

/** Returns what is listed below PLATFORMS in a lock file; none where Bundler accepts it on every build machine. */
function lackingPlatforms(lock: string): string[] {
  const platforms: string[] = []
  let isBelow = false
  for (const line of linesOf(lock)) {
    if (!line.startsWith(' ')) isBelow = line === 'PLATFORMS'
    else if (isBelow) platforms.push(line.trim())
  }
  const isTaken = platforms.includes('ruby') || MACHINES.every((machine) => platforms.includes(machine))
  return isTaken ? [] : platforms
}
