import { basename, dirname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { extract, pack, type Extract, type Header } from 'tar-stream'
import type { Snapshot } from '#server/deploys/store.ts'
import type { Engine } from '../engine/index.ts'
import type { Launch } from './launch.ts'

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
async function idsOf(
  engine: Engine,
  container: string,
  user: string,
): Promise<{ uid: number; gid: number } | null> {
  const [userPart = '', groupPart] = user.split(':')
  const passwd = await readText(engine, container, '/etc/passwd')
  const row = findRow(passwd, userPart, 2)
  const uid = /^\d+$/.test(userPart) ? Number(userPart) : Number(row?.[2] ?? NaN)
  if (Number.isNaN(uid)) return null
  // Without a group of its own a number that no row names runs with group 0.
  if (groupPart === undefined) return { uid, gid: Number(row?.[3] ?? 0) }
  if (/^\d+$/.test(groupPart)) return { uid, gid: Number(groupPart) }
  const group = findRow(await readText(engine, container, '/etc/group'), groupPart, 2)
  return group ? { uid, gid: Number(group[2]) } : null
}

/** The row of passwd(5) or group(5) with this name, or this number in `numberField`. */
function findRow(file: string, wanted: string, numberField: number): string[] | undefined {
  return file
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[0] === wanted || fields[numberField] === wanted)
}

async function readText(engine: Engine, container: string, path: string): Promise<string> {
  const tar = await engine.containers.getArchive(container, path)
  if (!tar) return ''
  for await (const entry of entriesOf(tar)) return await text(entry)
  return ''
}

/** The entries of a tar stream; throws when its connection is cut, which `pipe` alone would not tell. */
function entriesOf(tar: Readable): Extract {
  return pipeline(tar, extract(), () => {})
}
