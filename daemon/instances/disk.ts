import { basename, dirname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { extract, pack, type Extract, type Header } from 'tar-stream'
import type { Snapshot } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import type { Launch } from './launch.ts'

/** Lists of users are a few KiB; an image may hold anything under their name. */
const MAX_LIST_BYTES = 1024 ** 2
/** Of passwd(5), which has more than group(5). */
const MAX_FIELDS = 7

/** The volume that is a service's disk, as long as the service is there. */
export function diskName(serviceId: string): string {
  return `deployer-${serviceId}`
}

/** The disk of a container that is about to be created; nothing for a service without one. Makes it at first. */
export async function diskOf(
  engine: Engine,
  serviceId: string,
  snapshot: Snapshot,
): Promise<{ volume?: { name: string; path: string } }> {
  if (snapshot.disk_mount_path === null) return {}
  const name = diskName(serviceId)
  await engine.volumes.create(name, { 'deployer.service': serviceId })
  return { volume: { name, path: snapshot.disk_mount_path } }
}

/**
 * Gives a new disk to the user that the image runs as: the engine makes it root's, so that a program that is not root
 * could not write. A disk that holds something, or that somebody owns, stays as it is. The container must not run yet.
 */
export async function giveDisk(engine: Engine, container: string, { snapshot, user }: Launch): Promise<void> {
  const path = snapshot.disk_mount_path
  if (path === null) return
  if (user === '' || user === 'root' || user === '0') return
  const owner = await idsOf(engine, container, user)
  if (!owner || !(await isNew(engine, container, path))) return
  const archive = pack()
  // By its parent, as the engine leaves the folder itself that it unpacks into as it is.
  archive.entry({ name: basename(path), type: 'directory', mode: 0o755, ...owner })
  archive.finalize()
  await engine.containers.putArchive(
    container,
    dirname(path),
    Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }),
  )
}

/** Empty and root's. */
async function isNew(engine: Engine, container: string, path: string): Promise<boolean> {
  const tar = await engine.containers.getArchive(container, path)
  if (!tar) return false
  let root: Header | undefined
  try {
    for await (const entry of entriesOf(tar)) {
      entry.resume()
      if (root) return false
      root = entry.header
    }
  } finally {
    tar.destroy()
  }
  return root?.uid === 0 && root.gid === 0
}

/** The numbers of an image's `USER`: `1000`, `1000:1000`, `app` or `app:staff` (Dockerfile reference, USER). */
export async function idsOf(
  engine: Engine,
  container: string,
  user: string,
): Promise<{ uid: number; gid: number } | null> {
  const [userPart = '', groupPart] = user.split(':')
  const isNumber = (part: string | undefined) => part !== undefined && /^\d+$/.test(part)
  if (isNumber(userPart) && isNumber(groupPart)) return { uid: Number(userPart), gid: Number(groupPart) }
  const row = findRow(await readText(engine, container, '/etc/passwd'), userPart, 2)
  const uid = isNumber(userPart) ? Number(userPart) : Number(row?.[2] ?? NaN)
  if (Number.isNaN(uid)) return null
  // Without a group of its own a number that no row names runs with group 0.
  if (groupPart === undefined) return { uid, gid: Number(row?.[3] ?? 0) }
  if (isNumber(groupPart)) return { uid, gid: Number(groupPart) }
  const group = findRow(await readText(engine, container, '/etc/group'), groupPart, 2)
  return group ? { uid, gid: Number(group[2]) } : null
}

/** The row of passwd(5) or group(5) with this name, or this number in `numberField`. */
function findRow(file: string, wanted: string, numberField: number): string[] | undefined {
  for (const line of file.split('\n')) {
    const fields = line.split(':', MAX_FIELDS)
    if (fields[0] === wanted || fields[numberField] === wanted) return fields
  }
  return undefined
}

/** A small file of the image; nothing where there is none. Throws `runtime_error` for a large one, unread. */
async function readText(engine: Engine, container: string, path: string): Promise<string> {
  const tar = await engine.containers.getArchive(container, path)
  if (!tar) return ''
  try {
    for await (const entry of entriesOf(tar)) return await textOf(entry, path)
  } finally {
    tar.destroy()
  }
  return ''
}

type ArchiveEntry = Parameters<typeof text>[0] & { readonly header: Header }

/** What an archive's entry holds. Throws `runtime_error` when that is too much to be a list of users. */
export async function textOf(entry: ArchiveEntry, path: string): Promise<string> {
  if ((entry.header.size ?? 0) > MAX_LIST_BYTES) {
    throw new AppError(
      'runtime_error',
      `the image's ${path} is larger than ${MAX_LIST_BYTES / 1024 ** 2} MiB, so that its user cannot be looked up: set USER to two numbers, such as 1000:1000`,
    )
  }
  return text(entry)
}

/** The entries of a tar stream; throws when its connection is cut, which `pipe` alone would not tell. */
function entriesOf(tar: Readable): Extract {
  return pipeline(tar, extract(), () => {})
}
