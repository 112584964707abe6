import { open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { KEPT_TREE } from './kept-tree.ts'
import { removeTree } from './remove-tree.ts'
import { OWN_CONFIGS, OWN_HEAD, type Repository } from './repository.ts'

/** Each fetch with new objects adds a pack, and git searches all of them for an object. */
const MAX_PACKS = 24
/** The entries of each folder of the server's repositories; `shallow` lists where histories were cut. */
const EXPECTED_ENTRIES: [folder: string, names: RegExp][] = [
  ['.', /^(HEAD|config|shallow|objects|refs|tree)$/],
  ['refs', /^deployer$/],
  ['refs/deployer', /^[0-9a-f]$/],
  ['objects', /^pack$/],
]
/** The lengths of the checksums of packs, with SHA-1 and with SHA-256. */
const SHA1_BYTES = 20
const LONGEST_CHECKSUM_BYTES = 32
const PACK = /^(pack-[0-9a-f]+)\.(pack|idx|rev)$/

/**
 * Cleans up a mirror that is not in use: a killed git leaves locks, incomplete packs and temporary refs. Returns how many
 * entries were removed; null if the mirror is damaged, or its configuration or HEAD, which only the server writes, differ.
 */
export async function cleanUp(mirror: string): Promise<number | null> {
  if (!(await isOurs(mirror))) return null
  const strays: string[] = []
  for (const [folder, names] of EXPECTED_ENTRIES)
    for (const name of await list(mirror, folder)) if (!names.test(name)) strays.push(join(folder, name))
  const packs = await list(mirror, 'objects/pack')
  const isWhole = (name: string): boolean => {
    const base = PACK.exec(name)?.[1]
    return packs.includes(`${base}.pack`) && packs.includes(`${base}.idx`)
  }
  strays.push(...packs.filter((name) => !isWhole(name)).map((name) => join('objects/pack', name)))
  for (const stray of strays) {
    const path = join(mirror, stray)
    // A tree may have any number of files, so another process removes it.
    if (stray.startsWith(KEPT_TREE)) await removeTree(path)
    else await rm(path, { recursive: true, force: true })
  }
  const whole = packs.filter((name) => name.endsWith('.pack') && isWhole(name))
  for (const name of whole) if (!(await isSealed(join(mirror, 'objects/pack', name)))) return null
  return strays.length
}

/**
 * Whether a pack ends with the checksum that its index has for it (gitformat-pack(5)): git skips a pack that does not, and
 * would fetch its objects again and again.
 */
async function isSealed(pack: string): Promise<boolean> {
  const index = await readEnd(pack.replace(/pack$/, 'idx'), 2 * LONGEST_CHECKSUM_BYTES)
  const end = await readEnd(pack, LONGEST_CHECKSUM_BYTES)
  return [SHA1_BYTES, LONGEST_CHECKSUM_BYTES].some((length) => {
    const expected = index.subarray(index.length - 2 * length, index.length - length)
    return expected.length === length && expected.equals(end.subarray(end.length - length))
  })
}

async function readEnd(path: string, max: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const length = Math.min(size, max)
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: size - length })
    return buffer
  } finally {
    await file.close()
  }
}

/** Joins the packs of a mirror when there are many, and drops what nothing refers to any more. */
export async function joinPacks(mirror: Repository): Promise<void> {
  const packs = (await list(mirror.directory, 'objects/pack')).filter((name) => name.endsWith('.pack'))
  if (packs.length > MAX_PACKS) await mirror.git(['repack', '-a', '-d', '-n', '--quiet', '--window=0'])
}

/** The disk usage of a mirror: that of its packs, since the rest is negligible. */
export async function sizeOfMirror(mirror: string): Promise<number> {
  const folder = join(mirror, 'objects/pack')
  let bytes = 0
  for (const name of await list(mirror, 'objects/pack'))
    bytes += (await stat(join(folder, name)).catch(() => null))?.size ?? 0
  return bytes
}

async function isOurs(mirror: string): Promise<boolean> {
  const read = (name: string): Promise<string> => readFile(join(mirror, name), 'utf8').catch(() => '')
  const config = await read('config')
  return Object.values(OWN_CONFIGS).includes(config) && (await read('HEAD')) === OWN_HEAD
}

async function list(mirror: string, folder: string): Promise<string[]> {
  return await readdir(join(mirror, folder)).catch(() => [])
}
