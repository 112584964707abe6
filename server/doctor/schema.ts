import { z } from 'zod'

/** The checks of the doctor, in the order in which they are shown. */
export const CHECK_IDS = [
  'engine',
  'storage_driver',
  'log_driver',
  'build_limits',
  'container_addresses',
  'resolver',
  'metadata_addresses',
  'http_port',
  'https_port',
  'base_domain',
  'wildcard',
  'clock',
  'disk',
  'inodes',
  'memory',
  'server_backup',
  'datastore_backups',
  'certificates',
  'data_directory',
  'database',
  'strays',
  'nodes',
  'data_plane',
  'open_files',
] as const
export type CheckId = (typeof CHECK_IDS)[number]

/** From good to bad; `skipped` says nothing about the server. */
const OUTCOMES = ['passed', 'skipped', 'warning', 'failed'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** What one check of the doctor has found. */
export const Finding = z
  .object({
    id: z.enum(CHECK_IDS).meta({ examples: ['disk'] }),
    title: z.string().meta({ examples: ['Disk space'] }),
    outcome: z.enum(OUTCOMES).meta({
      description:
        '`warning`: nothing is broken yet, or only in part; `skipped`: it could not be checked, or does not apply',
      examples: ['warning'],
    }),
    message: z.string().meta({ examples: ['/var/lib/deployer: 7.2 GiB (9 %) are free'] }),
    fix: z
      .string()
      .nullable()
      .meta({
        description: 'The next step; null when there is nothing to do',
        examples: ['Make the file system larger, or remove what is not needed.'],
      }),
  })
  .meta({ id: 'Finding', description: 'What one check of the doctor has found' })
export type Finding = z.infer<typeof Finding>
