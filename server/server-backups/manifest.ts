import { z } from 'zod'
import { DATASTORE_KINDS } from '../datastores/kinds.ts'
import { DISK } from '../disks/states.ts'

/** The form of backups that this server writes, and the newest that it reads. */
export const FORMAT = 1

/** What a server backup says about itself. */
export const Manifest = z.object({
  format: z.int(),
  version: z.string(),
  /** That of the database. */
  schema: z.int(),
  server_id: z.string(),
  created_at: z.string(),
  host: z.string(),
  data_directory: z.string(),
  includes: z.object({ datastores: z.boolean(), disks: z.boolean(), logs: z.boolean() }),
  /** The settings that the server was started with, by variable. */
  settings: z.record(z.string(), z.string()),
  /** The sum of the sizes of its files, about; for progress and free space. */
  bytes: z.int(),
  datastores: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      kind: z.enum(DATASTORE_KINDS),
      /** The backup of it that the file has; null for none. */
      backup_id: z.string().nullable(),
    }),
  ),
  /** The disks of services, by the service; earlier versions knew one, which they did not name. */
  disks: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      disk: z.string().default(DISK),
      backup_id: z.string().nullable(),
    }),
  ),
})
export type Manifest = z.infer<typeof Manifest>

/** What may be shown of it: of the settings, which may be secrets, the names alone. */
export function shownManifest({ settings, ...rest }: Manifest): Record<string, unknown> {
  return { ...rest, settings: Object.keys(settings) }
}

/** The last entry: how many entries came before it, and the digest of them all (see `Digest`). */
export const End = z.object({ entries: z.int(), sha256: z.string() })
