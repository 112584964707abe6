import { basename, dirname, posix } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { extract, pack, type Extract, type Header } from 'tar-stream'
import type { Snapshot } from '#server/deploys/store.ts'
import { diskVolume, recordDiskVolume } from '#server/disks/volume.ts'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import type { Launch } from './launch.ts'

/** Lists of users have a few KiB, but an image may have any file under their name. */
const MAX_LIST_BYTES = 1024 ** 2
/** Links that are followed to one: more are a circle. */
const MAX_LINKS = 5
/** The fields of passwd(5), which has more than group(5). */
const MAX_FIELDS = 7

/** Returns the disks for a new container. Creates the volumes that are missing. */
export async function mountsOf(
  engine: Engine,
  serviceId: string,
  { disks }: Snapshot,
): Promise<{ name: string; path: string }[]> {
  const mounts = disks.map(({ name: disk, mount_path: path }) => {
    const name = diskVolume(serviceId, disk)
    // It is removed with the service, even if the service no longer has the disk then.
    recordDiskVolume(serviceId, disk, name)
    return { name, path }
  })
  for (const { name } of mounts) await engine.volumes.create(name, { 'deployer.service': serviceId })
  return mounts
}

/**
 * Changes the owner of new disks to the user of the image: the engine creates them for root, so another user could not
 * write. A disk with files or another owner is not changed. The container must not be running yet.
 */
export async function changeDiskOwner(
  engine: Engine,
  container: string,
  { snapshot: { disks }, user }: Launch,
): Promise<void> {
  if (disks.length === 0 || user === '' || user === 'root' || user === '0') return
  const owner = await idsOf(engine, container, user)
  if (!owner) return
  for (const { mount_path } of disks)
    if (await isNew(engine, container, mount_path)) await setOwner(engine, container, mount_path, owner)
}

async function setOwner(
  engine: Engine,
  container: string,
  path: string,
  owner: { uid: number; gid: number },
): Promise<void> {
  const archive = pack()
  // Unpacked into its parent, because the engine does not change the folder that it unpacks into.
  archive.entry({ name: basename(path), type: 'directory', mode: 0o755, ...owner })
  archive.finalize()
  await engine.containers.putArchive(
    container,
    dirname(path),
    Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }),
  )
}

/** Whether a disk is empty and owned by root. */
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

/** Returns the ids of an image's `USER`: `1000`, `1000:1000`, `app` or `app:staff` (Dockerfile reference, USER). */
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
  // A user id without a group and without a row runs with group 0.
  if (groupPart === undefined) return { uid, gid: Number(row?.[3] ?? 0) }
  if (isNumber(groupPart)) return { uid, gid: Number(groupPart) }
  const group = findRow(await readText(engine, container, '/etc/group'), groupPart, 2)
  return group ? { uid, gid: Number(group[2]) } : null
}

/** Returns the row of passwd(5) or group(5) with this name, or this number in `numberField`. */
function findRow(file: string, wanted: string, numberField: number): string[] | undefined {
  for (const line of file.split('\n')) {
    const fields = line.split(':', MAX_FIELDS)
    if (fields[0] === wanted || fields[numberField] === wanted) return fields
  }
  return undefined
}

/**
 * Returns a small file of the image, also behind links; empty if there is none. Throws `runtime_error` for a large one, without
 * reading it.
 */
async function readText(engine: Engine, container: string, path: string, links = MAX_LINKS): Promise<string> {
  const tar = await engine.containers.getArchive(container, path)
  if (!tar) return ''
  try {
    for await (const entry of entriesOf(tar)) {
      const { type, linkname } = entry.header
      if (type !== 'symlink') return await textOf(entry, path)
      if (links === 0 || !linkname) return ''
      return await readText(engine, container, posix.resolve(dirname(path), linkname), links - 1)
    }
  } finally {
    tar.destroy()
  }
  return ''
}

type ArchiveEntry = Parameters<typeof text>[0] & { readonly header: Header }

/** Returns the text of an archive's entry. Throws `runtime_error` if it is too large for a list of users. */
export async function textOf(entry: ArchiveEntry, path: string): Promise<string> {
  if ((entry.header.size ?? 0) > MAX_LIST_BYTES) {
    throw new AppError(
      'runtime_error',
      `the image's ${path} is larger than ${MAX_LIST_BYTES / 1024 ** 2} MiB, so its user cannot be looked up: set USER to two numbers, such as 1000:1000`,
    )
  }
  return text(entry)
}

/** Returns the entries of a tar stream; throws if its connection breaks, which `pipe` alone would not report. */
function entriesOf(tar: Readable): Extract {
  return pipeline(tar, extract(), () => {})
}
