import { z } from 'zod'
import { scheduleFault } from '../jobs/cron.ts'

/** Ten times what three months of daily backups need; the disk is finite. */
const MAX_BACKUPS_KEPT = 1_000

export const BackupSchedule = z
  .string()
  .nullable()
  .superRefine((text, context) => {
    const message = text === null ? null : scheduleFault(text)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
  .meta({
    description:
      'When a backup is made: five fields as in crontab(5), in UTC; with null, none is made automatically',
    examples: ['0 3 * * *'],
  })
export const BackupRetention = z
  .int()
  .min(1)
  .max(MAX_BACKUPS_KEPT)
  .meta({ description: 'How many backups are kept', examples: [7] })
