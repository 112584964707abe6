import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MIB = 1024 ** 2
/** Enough for what a run writes; what fills it is memory. */
const DISK_MIB = 96

/** A small file system that can be filled. */
export interface SmallDisk {
  readonly isFull: boolean
  /** Leaves not a byte free. */
  fill(): Promise<void>
  /** Gives back what `fill` took. */
  empty(): Promise<void>
  close(): Promise<void>
}

/** Mounts a small file system in memory; null if this machine lets nobody mount one. The folder exists either way. */
export async function openSmallDisk(folder: string): Promise<SmallDisk | null> {
  await mkdir(folder, { recursive: true })
  const isMounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', folder]).then(
    () => true,
    () => false,
  )
  if (!isMounted) return null
  const ballast = join(folder, 'ballast')
  return {
    get isFull() {
      return existsSync(ballast)
    },
    async fill() {
      const file = await open(ballast, 'a')
      try {
        for (;;) {
          const { bavail, bsize } = await statfs(folder)
          const { bytesWritten } = await file.write(
            Buffer.alloc(Math.min(MIB, Math.max(bsize, bavail * bsize))),
          )
          if (bytesWritten === 0) break
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        await file.close()
      }
    },
    empty: () => rm(ballast, { force: true }),
    async close() {
      await run('umount', ['--lazy', folder])
    },
  }
}
