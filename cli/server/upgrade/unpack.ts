import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { AppError } from '#server/errors.ts'

const FOLDER_MODE = 0o755
/** The modes that files of a release have. */
const MODES = 0o755

/**
 * Unpacks a release, whose sum was checked, into a folder. Throws `io_error` when something in it is not below the folder
 * `title`.
 */
export async function unpackRelease(path: string, title: string, folder: string): Promise<void> {
  const entries = extract()
  const packed = createReadStream(path)
  const plain = createGunzip()
  for (const stream of [packed, plain]) stream.on('error', (error: Error) => entries.destroy(error))
  packed.pipe(plain).pipe(entries)
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  for await (const entry of entries) {
    const { name, type, mode, linkname } = entry.header
    const parts = name.replace(/\/$/, '').split('/')
    if (parts[0] !== title || parts.includes('..') || parts.includes(''))
      throw new AppError('io_error', `the release contains ${name}, which is not in ${title}`)
    const target = join(folder, ...parts)
    await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE })
    if (type === 'symlink') await symlink(linkname, target)
    else if (type === 'file') {
      const file = await open(target, 'wx', mode & MODES)
      try {
        for await (const piece of entry as AsyncIterable<Buffer>) await file.writeFile(piece)
      } finally {
        await file.close()
      }
      // Whatever the umask is: the data plane may run as another user.
      await chmod(target, mode & MODES)
    } else if (type === 'directory') await mkdir(target, { recursive: true, mode: FOLDER_MODE })
    entry.resume()
  }
}
