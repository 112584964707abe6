import { z } from 'zod'
import { Timestamp } from '../schema.ts'
import { CLEANUP_KINDS, DISK_KINDS } from './kinds.ts'

const GIBIBYTE = 1024 ** 3

const bytes = (example: number) => z.int().meta({ examples: [example] })

const Room = z
  .object({
    total_bytes: bytes(100 * GIBIBYTE),
    free_bytes: bytes(40 * GIBIBYTE),
    floor_bytes: z.int().meta({ description: 'Builds wait while less is free', examples: [5 * GIBIBYTE] }),
  })
  .meta({ id: 'DiskRoom' })

const Item = {
  id: z.string().meta({
    description: 'Of what it belongs to: a service, a datastore, a deploy or a job; or its own name',
    examples: ['srv-4f1d0c9a7b3e5d2f6a80'],
  }),
  name: z.string().meta({ examples: ['api.staging'] }),
  bytes: bytes(734003200),
}

export const DiskUse = z
  .object({
    filesystem: Room.pick({ total_bytes: true, free_bytes: true }).meta({
      description: "The fuller of the data directory's and the engine's file systems",
    }),
    filesystems: z
      .object({
        data: Room,
        engine: Room.nullable().meta({
          description: 'Null if the engine keeps its data where the server does not see it',
        }),
      })
      .meta({ id: 'DiskRooms', description: 'Both file systems, which are often the same' }),
    kinds: z.array(
      z
        .object({
          kind: z.enum(DISK_KINDS).meta({ examples: ['images'] }),
          bytes: bytes(1288490188).nullable(),
          items: z
            .int()
            .nullable()
            .meta({ examples: [12] }),
        })
        .meta({
          id: 'DiskKindUse',
          description: 'Both are null if the engine has not said it in time',
        }),
    ),
    top: z
      .array(
        z
          .object({ kind: z.enum(DISK_KINDS).meta({ examples: ['images'] }), ...Item })
          .meta({ id: 'DiskItem' }),
      )
      .meta({ description: 'What takes most, largest first, at most 50' }),
    measured_at: Timestamp,
  })
  .meta({ id: 'DiskUse', description: "What takes room on the server's disks" })
export type DiskUse = z.infer<typeof DiskUse>

export const CleanupInput = z
  .strictObject({
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: 'Only tell what would be removed', examples: [true] }),
    kinds: z
      .array(z.enum(CLEANUP_KINDS))
      .min(1)
      .optional()
      .meta({ description: 'All kinds if absent', examples: [['images', 'build_cache']] }),
  })
  .meta({ id: 'CleanupInput' })

export const CleanupResult = z
  .object({
    removed: z
      .array(
        z
          .object({ kind: z.enum(CLEANUP_KINDS).meta({ examples: ['images'] }), ...Item })
          .meta({ id: 'RemovedItem' }),
      )
      .meta({ description: 'At most 10,000; the next cleanup goes on' }),
    freed_bytes: bytes(734003200),
  })
  .meta({ id: 'CleanupResult', description: 'What a cleanup removed, or would remove' })
export type CleanupResult = z.infer<typeof CleanupResult>
