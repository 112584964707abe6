import { createReadStream, createWriteStream, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** What of a build is in a release: the client is in `server/cli.tgz`. */
const PARTS = ['public', 'server']
const PROGRAM_MODE = 0o755
const FILE_MODE = 0o644
/** zlib's own: a higher one takes three times as long for one per cent. */
const LEVEL = 6

/** The command of the unpacked release, wherever it is and by whatever link it is called. */
const LAUNCHER = `#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")
exec "$folder/node" "$folder/server/index.mjs" "$@"
`

/**
 * @typedef {object} Release
 * @property {string} built the folder of the build
 * @property {import('./node.mjs').ReleaseNode} node
 * @property {string} version
 * @property {string} arch
 * @property {string | null} publicKey PEM; checks the signatures of later releases
 * @property {number} time of every file, in seconds
 * @property {string} folder where the file is written
 * @property {number} [level] of compression
 */

/** @typedef {{ name: string, text?: string, file?: string, link?: string, isFolder?: boolean, mode: number }} Entry */

/**
 * Writes the tarball of a release: one folder with the program, its command and its node. The same contents always give the
 * same bytes: sorted names, one time, owner 0.
 *
 * @param {Release} release
 * @returns {Promise<string>} its path
 */
export async function packRelease(release) {
  const { version, arch, time, folder, level = LEVEL } = release
  const title = `deployer-${version}-linux-${arch}`
  const path = join(folder, `${title}.tar.gz`)
  const { pack } = await import('tar-stream')
  const tar = pack()
  const written = pipeline(tar, createGzip({ level }), createWriteStream(path))
  // A failure ends the stream, and is thrown below.
  written.catch(() => {})
  for (const entry of entriesOf(release))
    await add(tar, entry, `${title}/${entry.name}`, new Date(time * 1000))
  tar.finalize()
  await written
  return path
}

/**
 * @param {Release} release
 * @returns {Entry[]} sorted by name
 */
function entriesOf({ built, node, publicKey }) {
  const entries = [
    { name: 'deployer', text: LAUNCHER, mode: PROGRAM_MODE },
    { name: 'LICENSE', file: new URL('../../../LICENSE', import.meta.url).pathname, mode: FILE_MODE },
    { name: 'node', file: node.program, mode: PROGRAM_MODE },
    { name: 'node.LICENSE', file: node.license, mode: FILE_MODE },
    ...node.libraries.map((file) => ({ name: `lib/${basename(file)}`, file, mode: FILE_MODE })),
    ...(publicKey === null ? [] : [{ name: 'release-key.pem', text: publicKey, mode: FILE_MODE }]),
    ...PARTS.flatMap((part) => filesIn(built, part)),
  ]
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * @param {string} root
 * @param {string} name
 * @returns {Entry[]}
 */
function filesIn(root, name) {
  const file = join(root, name)
  const stat = lstatSync(file)
  if (stat.isSymbolicLink()) return [{ name, link: readlinkSync(file), mode: PROGRAM_MODE }]
  if (!stat.isDirectory()) return [{ name, file, mode: FILE_MODE }]
  const inside = readdirSync(file).flatMap((child) => filesIn(root, `${name}/${child}`))
  return [{ name, isFolder: true, mode: PROGRAM_MODE }, ...inside]
}

/**
 * @param {import('tar-stream').Pack} tar
 * @param {Entry} entry
 * @param {string} name
 * @param {Date} mtime
 */
async function add(tar, { text, file, link, isFolder, mode }, name, mtime) {
  const head = { name, mode, mtime, uid: 0, gid: 0 }
  if (isFolder) return void tar.entry({ ...head, type: 'directory' })
  if (link !== undefined) return void tar.entry({ ...head, type: 'symlink', linkname: link })
  if (text !== undefined) return void tar.entry(head, text)
  await pipeline(
    createReadStream(/** @type {string} */ (file)),
    tar.entry({ ...head, size: lstatSync(/** @type {string} */ (file)).size }),
  )
}
