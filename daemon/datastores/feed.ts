import { createReadStream } from 'node:fs'
import { backupPath } from '#server/backups/files.ts'
import { AppError } from '#server/errors.ts'
import type { Attachment } from '../engine/index.ts'

/** A volume to fill, and the backup to fill it with. */
export interface Filling {
  volume: string
  imageId: string
  backupId: string
  /** Whether the roles of the program that serves now are copied too. */
  carriesRoles: boolean
}

/** Sends a backup to a program's input while `take` reads its output. */
export async function feed(
  streams: Attachment,
  backupId: string,
  take: () => Promise<void> = () => drain(streams),
): Promise<void> {
  const file = createReadStream(backupPath(backupId))
  await Promise.all([streams.input(file), take()]).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new AppError('runtime_error', 'the backup was deleted', { cause: error })
  })
}

/** Reads and discards a program's output, which would block if nobody read it. */
export async function drain(streams: Attachment): Promise<void> {
  for await (const _ of streams.output());
}
