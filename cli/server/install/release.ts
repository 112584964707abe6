import { createHash } from 'node:crypto'
import {
  cpSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { VERSION } from '#server/version.ts'
import { COMMAND_FILE, PROGRAM_FOLDER } from './layout.ts'

/** A built server in a folder of its own, and the node that runs it. */
export interface Release {
  node: string
  entry: string
}

/** The parts of a build. */
const PARTS = ['server', 'public']
/** What a release's tarball has in addition: its node with a library that node needs, its command, and its public key. */
const PARTS_OF_TARBALL = ['node', 'lib', 'deployer', 'release-key.pem']
const HASH_CHARACTERS = 12
const PROGRAM_MODE = 0o755

/** The folder of the running program: of a build, of an unpacked tarball, or of what `deployer install` copied from either. */
export function programFolder(): string {
  return dirname(dirname(realpathSync(process.argv[1]!)))
}

/**
 * Copies the running program, and the node that came with it, to a place where the next build cannot replace them under a
 * running server. A release is named after its content: if it already exists, it is reused.
 */
export function installRelease(): Release {
  const built = programFolder()
  const node = realpathSync(process.execPath)
  const isFromTarball = node === join(built, 'node')
  const release = join(PROGRAM_FOLDER, `${VERSION}-${contentHash(built)}`)
  if (!existsSync(release)) {
    const fresh = `${release}.${process.pid}`
    mkdirSync(fresh, { recursive: true, mode: PROGRAM_MODE })
    for (const part of isFromTarball ? [...PARTS, ...PARTS_OF_TARBALL] : PARTS) copyPart(built, fresh, part)
    renameSync(fresh, release)
  }
  return {
    node: isFromTarball ? join(release, 'node') : installNode(node),
    entry: join(release, 'server/index.mjs'),
  }
}

function copyPart(from: string, to: string, part: string): void {
  if (existsSync(join(from, part)))
    cpSync(join(from, part), join(to, part), { recursive: true, verbatimSymlinks: true })
}

/** Nodes of a distribution or an administrator, which are used where they are, with the files that they may need. */
const SYSTEM_NODES = /^\/(usr|opt)\/(?!.*\/node_modules\/)/

function installNode(node: string): string {
  if (SYSTEM_NODES.test(node)) return node
  const installed = join(PROGRAM_FOLDER, `node-${process.version}`)
  if (existsSync(installed) && statSync(installed).size === statSync(node).size) return installed
  const fresh = `${installed}.${process.pid}`
  copyFileSync(node, fresh)
  renameSync(fresh, installed)
  return installed
}
/** Writes the `deployer` command. Returns whether it has changed. */
export function writeCommand({ node, entry }: Release): boolean {
  const script = `#!/bin/sh\nexec ${quoted(node)} ${quoted(entry)} "$@"\n`
  if (existsSync(COMMAND_FILE) && readFileSync(COMMAND_FILE, 'utf8') === script) return false
  mkdirSync(dirname(COMMAND_FILE), { recursive: true })
  const fresh = `${COMMAND_FILE}.${process.pid}`
  writeFileSync(fresh, script, { mode: PROGRAM_MODE })
  renameSync(fresh, COMMAND_FILE)
  return true
}

/** Removes releases and nodes other than those that are still used. */
export function removeOldReleases(...used: Release[]): void {
  const kept = used.flatMap(({ node, entry }) => [basename(node), basename(dirname(dirname(entry)))])
  for (const name of readdirSync(PROGRAM_FOLDER))
    if (!kept.includes(name)) rmSync(join(PROGRAM_FOLDER, name), { recursive: true, force: true })
}

function contentHash(folder: string): string {
  const hash = createHash('sha256')
  for (const part of PARTS) {
    const names = readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).sort()
    for (const name of names) {
      const file = join(folder, part, name)
      if (!statSync(file).isFile()) continue
      const content = readFileSync(file)
      hash.update(`${part}/${name}\0${content.length}\0`).update(content)
    }
  }
  // A tarball's node is part of its release.
  if (existsSync(join(folder, 'node'))) hash.update(process.version)
  return hash.digest('hex').slice(0, HASH_CHARACTERS)
}

/** Quotes a text as one word of sh(1). */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
