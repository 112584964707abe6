import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { AppError, messageOf } from '#server/errors.ts'
import { isEngineAway, type Engine } from '../engine/index.ts'
import { idsOf } from './disk.ts'
import type { Launch } from './launch.ts'

const ROOT = { uid: 0, gid: 0 }

/**
 * Puts the secret files of a deploy into a container, owned by the user that its program runs as. The container must not be
 * running yet. They are in its writable layer: they stay as long as it does, however often it is started, wherever its
 * engine is, and are in no image. Folders that are missing on the way belong to root. Throws `runtime_error`.
 */
export async function putSecretFiles(
  engine: Engine,
  container: string,
  { snapshot, user }: Launch,
): Promise<void> {
  if (snapshot.secret_files.length === 0) return
  // Without a user of that name the container cannot start, which the engine says better.
  const owner = user === '' ? ROOT : ((await idsOf(engine, container, user)) ?? ROOT)
  const archive = pack()
  for (const { path, mode, content } of snapshot.secret_files)
    archive.entry(
      { name: path.slice(1), mode: Number.parseInt(mode, 8), ...owner },
      Buffer.from(content, 'base64'),
    )
  archive.finalize()
  const tar = Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false })
  try {
    await engine.containers.putArchive(container, '/', tar, { keepsFolders: true })
  } catch (error) {
    if (isEngineAway(error)) throw error
    throw new AppError(
      'runtime_error',
      `the secret files cannot be put into the container: ${messageOf(error)}`,
      { cause: error },
    )
  }
}
