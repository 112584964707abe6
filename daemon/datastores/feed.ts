import { createReadStream } from 'node:fs'
import { backupPath } from '#server/backups/files.ts'
import { AppError } from '#server/errors.ts'
import type { Attachment } from '../engine/index.ts'

/** A volume to be filled, and with what. */
export interface Filling {
  volume: string
  imageId: string
  backupId: string
  /** Whether the roles of the program that serves now come along. */
  carriesRoles: boolean
}

/** Gives a program a backup to read, while `take` takes what it prints. */
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

/** What a program prints besides is of no interest, but it must get rid of it. */
export async function drain(streams: Attachment): Promise<void> {
  for await (const _ of streams.output());
}
