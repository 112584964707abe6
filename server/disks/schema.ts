import { z } from 'zod'
import { BACKUP_STATUSES, BACKUP_TRIGGERS } from '../backups/states.ts'
import { backupFields } from '../backups/schema.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { DISK, DISK_RESTORE_STATUSES } from './states.ts'

const DiskName = z.string().meta({ description: 'Name of the disk', examples: [DISK] })

export const DiskBackup = z
  .object({
    id: idSchema('diskBackup'),
    service_id: idSchema('service'),
    disk: DiskName,
    status: z.enum(BACKUP_STATUSES).meta({ examples: ['succeeded'] }),
    trigger: z
      .enum(BACKUP_TRIGGERS)
      .exclude(['upgrade'])
      .meta({ examples: ['schedule'] }),
    consistent: z.boolean().meta({
      description: 'Whether the program was stopped for the copy, so that no file changed during it',
      examples: [false],
    }),
    ...backupFields,
  })
  .meta({ id: 'DiskBackup', description: "A copy of what a service's disk held" })
export type DiskBackup = z.infer<typeof DiskBackup>

export const DiskBackupInput = z
  .strictObject({
    disk: DiskName.optional().meta({
      description: 'Name of a disk; when absent, each gets a backup, and that of the first is returned',
    }),
    suspend: z
      .boolean()
      .default(false)
      .meta({
        description: 'Stops the program for the copy; otherwise files may change during it',
        examples: [true],
      }),
  })
  .meta({ id: 'DiskBackupInput', examples: [{ suspend: true }] })

/** The path parameters of requests about one backup of a disk. */
export const DiskBackupPath = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id or name of the service', examples: ['api'] }),
  backup_id: z.string().meta({ description: 'Id of the backup', examples: ['dbk-4f1d0c9a7b3e5d2f6a80'] }),
})

export const DiskRestoreInput = z
  .strictObject({
    service: z
      .string()
      .min(1)
      .optional()
      .meta({
        description:
          'Id or name of another service whose disk gets the data; when absent, the backup replaces the disk of its own service',
        examples: ['api-staging'],
      }),
    disk: DiskName.optional().meta({
      description: "Name of the disk that is replaced; when absent, it is the one of the backup's name",
    }),
  })
  .meta({ id: 'DiskRestoreInput', examples: [{}, { service: 'api-staging' }, { disk: 'uploads' }] })

export const DiskRestore = z
  .object({
    backup_id: idSchema('diskBackup'),
    disk: DiskName,
    status: z.enum(DISK_RESTORE_STATUSES).meta({ examples: ['succeeded'] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed; the disk is then as it was', examples: [null] }),
    started_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'DiskRestore', description: "A restore of a service's disk" })
export type DiskRestore = z.infer<typeof DiskRestore>

export const KeptDisk = z
  .object({
    disk: DiskName,
    volume: z.string().meta({ examples: ['deployer-srv-4f1d0c9a7b3e5d2f6a80'] }),
    kept_until: Timestamp,
  })
  .meta({ id: 'KeptDisk', description: 'A volume that a restore of a disk replaced' })
export type KeptDisk = z.infer<typeof KeptDisk>
