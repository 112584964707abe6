import { z } from 'zod'
import { BackupSchedule } from '../backups/settings.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { SERVER_BACKUP_STATUSES, SERVER_BACKUP_TRIGGERS } from './states.ts'

/** A year of nightly ones. */
const MAX_KEPT = 365

const Includes = z.object({
  datastores: z.boolean().meta({
    description: 'Whether it has a backup of each datastore, made right before it',
    examples: [true],
  }),
  disks: z.boolean().meta({
    description: 'Whether it has a backup of each disk, made right before it',
    examples: [false],
  }),
  logs: z.boolean().meta({ description: 'Whether it has the logs of deploys and jobs', examples: [true] }),
})

export const ServerBackup = z
  .object({
    id: idSchema('serverBackup'),
    status: z.enum(SERVER_BACKUP_STATUSES).meta({ examples: ['succeeded'] }),
    trigger: z.enum(SERVER_BACKUP_TRIGGERS).meta({ examples: ['schedule'] }),
    progress_percent: z.int().meta({
      description: 'How much of its file is written; 0 while backups are made for it',
      examples: [100],
    }),
    size_bytes: z
      .int()
      .nullable()
      .meta({ description: 'Null until its file is complete', examples: [52_428_800] }),
    sha256: z
      .string()
      .nullable()
      .meta({
        description: 'Checksum of the file, in hex; null until the file is complete',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
    encrypted: z.boolean().meta({
      description: 'Whether it is sealed with the passphrase of `--backup-passphrase-file`',
      examples: [true],
    }),
    includes: Includes,
    stored: z.array(z.enum(['local', 's3'])).meta({
      description: 'Where it is: in the data directory, in the bucket of `--backup-s3-url`, or both',
      examples: [['local', 's3']],
    }),
    verified_at: Timestamp.nullable().meta({
      description:
        'When it was last read to its end and found sound; null if never, and once it was found damaged',
    }),
    error: z
      .string()
      .nullable()
      .meta({
        description: 'Why it failed or is damaged, what it lacks, or why it has no copy in the bucket',
        examples: [null],
      }),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'ServerBackup', description: 'A copy of the server itself at one moment' })
export type ServerBackup = z.infer<typeof ServerBackup>

export const ServerBackupInput = z
  .strictObject({
    datastores: z
      .boolean()
      .optional()
      .meta({ description: 'Also back each available datastore up (true)', examples: [true] }),
    disks: z
      .boolean()
      .optional()
      .meta({ description: 'Also back each disk up (false)', examples: [false] }),
    logs: z
      .boolean()
      .optional()
      .meta({ description: 'Include the logs of deploys and jobs (true)', examples: [true] }),
  })
  .meta({ id: 'ServerBackupInput', examples: [{ disks: true }] })
export type ServerBackupInput = z.infer<typeof ServerBackupInput>

/** The path parameters of requests about one server backup. */
export const ServerBackupPath = z.strictObject({
  id: z.string().meta({ description: 'Id of the backup', examples: ['sbk-4f1d0c9a7b3e5d2f6a80'] }),
})

const schedule = 'When the server backs itself up, as in crontab(5), in UTC; null for never'

export const ServerSettings = z
  .object({
    backup_schedule: z
      .string()
      .nullable()
      .meta({ description: schedule, examples: ['17 3 * * *'] }),
    backup_retention: z.int().meta({
      description:
        'How many backups are kept; of those that an upgrade made, the newest two are kept besides',
      examples: [7],
    }),
    backup_disks: z.boolean().meta({
      description: 'Whether backups by schedule also back each disk up',
      examples: [false],
    }),
    backup_datastores: z.boolean().meta({
      description: 'Whether backups by schedule also back each available datastore up',
      examples: [true],
    }),
  })
  .meta({ id: 'ServerSettings', description: 'What the server does for itself' })
export type ServerSettings = z.infer<typeof ServerSettings>

export const ServerSettingsPatch = z
  .strictObject({
    backup_schedule: BackupSchedule.optional(),
    backup_retention: z
      .int()
      .min(1)
      .max(MAX_KEPT)
      .optional()
      .meta({ description: 'How many backups are kept', examples: [14] }),
    backup_disks: z
      .boolean()
      .optional()
      .meta({ examples: [true] }),
    backup_datastores: z
      .boolean()
      .optional()
      .meta({ examples: [true] }),
  })
  .meta({ id: 'ServerSettingsPatch', examples: [{ backup_retention: 14 }] })
export type ServerSettingsPatch = z.infer<typeof ServerSettingsPatch>
