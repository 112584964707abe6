import { hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** What the plan needs to know of a Gemfile and its lock file. */
export interface Gemfile {
  exists: boolean
  hasLock: boolean
  /** Whether a gem is named, or is a dependency of another. */
  has: (gem: string) => boolean
  /** The files that Bundler reads to install; empty when the Gemfile may read any file of the tree. */
  files: string[]
  /** The platforms of the lock file if none of them matches a build machine: Bundler then installs nothing. */
  platforms: string[]
  /** The folder with vendored gems, which Bundler uses before it asks a server; or null. */
  vendored: string | null
}

/** Files that a Gemfile reads besides itself, by Bundler's own means or by convention. */
const ACCOMPANYING = ['Gemfile.lock', '.ruby-version', '.tool-versions', '.bundle/config']

/** Bundler, "bundle cache". */
const VENDORED = 'vendor/cache'

/** A Gemfile is a program: these words in it read other files. */
const READS_FILES =
  /\bpath[: ]|\bgemspec\b|\beval_gemfile\b|\brequire_relative\b|\bFile\.|\bDir[.[]|\bIO\.|__dir__|`/

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
  const files: string[] = []
  if (text !== null && !hasLine(text, READS_FILES)) {
    for (const name of ['Gemfile', ...ACCOMPANYING]) if (await tree.hasFile(name)) files.push(name)
  }
  const vendored = (await tree.hasFolder(VENDORED)) ? VENDORED : null
  return {
    exists: text !== null,
    hasLock: lock !== null,
    platforms: lackingPlatforms(lock ?? ''),
    has: (gem) => gems.has(gem),
    files,
    vendored,
  }
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
