import { z } from 'zod'
import { idSchema, Name, Timestamp } from '../schema.ts'
import { BACKUP_STATUSES, BACKUP_TRIGGERS } from './states.ts'

/** The fields that backups of datastores and of disks have in common. */
export const backupFields = {
  size_bytes: z
    .int()
    .nullable()
    .meta({ description: 'Null until its file is complete', examples: [1_048_576] }),
  sha256: z
    .string()
    .nullable()
    .meta({
      description: 'Checksum of the file, in hex; null until the file is complete',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  error: z
    .string()
    .nullable()
    .meta({ description: 'Why it failed, or why it has no copy in the bucket', examples: [null] }),
  stored: z.array(z.enum(['local', 's3'])).meta({
    description: 'Where it is: in the data directory, in the bucket of `--backup-s3-url`, or both',
    examples: [['local', 's3']],
  }),
  encrypted: z.boolean().meta({
    description: 'Whether its copy in the bucket is sealed with the passphrase of `--backup-passphrase-file`',
    examples: [false],
  }),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
}

export const Backup = z
  .object({
    id: idSchema('backup'),
    datastore_id: idSchema('datastore'),
    status: z.enum(BACKUP_STATUSES).meta({ examples: ['succeeded'] }),
    trigger: z.enum(BACKUP_TRIGGERS).meta({ examples: ['schedule'] }),
    ...backupFields,
  })
  .meta({ id: 'Backup', description: 'A copy of what a datastore held at one moment' })
export type Backup = z.infer<typeof Backup>

/** The path parameters of requests about one backup. */
export const BackupPath = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id or name of the datastore', examples: ['db'] }),
  backup_id: z.string().meta({ description: 'Id of the backup', examples: ['bak-4f1d0c9a7b3e5d2f6a80'] }),
})

export const RestoreInput = z
  .strictObject({
    name: Name.optional().meta({
      description:
        'Name of the new datastore; when absent, the backup replaces the data of its own datastore',
      examples: ['db-of-yesterday'],
    }),
  })
  .meta({ id: 'RestoreInput', examples: [{ name: 'db-of-yesterday' }] })
