import { z } from 'zod'
import { reachable, secret } from '../access/shown.ts'
import { BackupRetention, BackupSchedule } from '../backups/settings.ts'
import { Move } from '../moves/schema.ts'
import { NodeRef } from '../nodes/schema.ts'
import { CpuLimit, idSchema, MemoryLimit, Name, Timestamp } from '../schema.ts'
import { DATASTORE_KINDS, KINDS } from './kinds.ts'
import { DatabaseName, RoleName } from './postgres-names.ts'
import { DATASTORE_STATUSES } from './states.ts'

/** An image's tag (distribution reference grammar). */
const Version = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, "must be a tag of the kind's image, such as 17")
  .meta({ description: "A tag of the kind's image; the server's default when absent", examples: ['17'] })

export const DatastoreInput = z
  .strictObject({
    kind: z.enum(DATASTORE_KINDS).meta({ examples: ['relational'] }),
    name: Name.meta({ examples: ['db'] }),
    environment: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Id or name', examples: ['production'] }),
    version: Version.optional(),
    node: NodeRef.optional().meta({
      description: 'Id or name of the node that it is on; by default the one with the most unreserved memory',
      examples: ['worker-1'],
    }),
    database: DatabaseName.optional().meta({
      description: 'Only for `relational`; derived from the name when absent',
      examples: ['app'],
    }),
    username: RoleName.optional().meta({
      description: 'Only for `relational`; derived from the name when absent',
      examples: ['app'],
    }),
    memory_limit_mb: MemoryLimit.optional(),
    cpu_limit: CpuLimit.optional(),
    backup_schedule: BackupSchedule.optional(),
    backup_retention: BackupRetention.optional(),
  })
  .superRefine((input, context) => {
    if (KINDS[input.kind].hasDatabases) return
    const given = (['database', 'username'] as const).find((field) => input[field] !== undefined)
    if (given === undefined) return
    const message = `cannot be chosen for a ${KINDS[input.kind].label}`
    context.addIssue({ code: 'custom', path: [given], message })
  })
  .meta({ id: 'DatastoreInput', examples: [{ kind: 'relational', name: 'db' }] })
export type DatastoreInput = z.infer<typeof DatastoreInput>

export const DatastorePatch = z
  .strictObject({
    memory_limit_mb: MemoryLimit.optional(),
    cpu_limit: CpuLimit.optional(),
    backup_schedule: BackupSchedule.optional(),
    backup_retention: BackupRetention.optional(),
  })
  .meta({ id: 'DatastorePatch', examples: [{ memory_limit_mb: 1024 }] })
export type DatastorePatch = z.infer<typeof DatastorePatch>

export const UpgradeInput = z
  .strictObject({ version: Version })
  .meta({ id: 'UpgradeInput', examples: [{ version: '18' }] })

export const DatastoreReference = z
  .object({
    holder: z.enum(['service', 'env group']).meta({ examples: ['service'] }),
    name: z.string().meta({ description: 'Name of the service or env group', examples: ['api'] }),
    key: z.string().meta({ description: 'Name of the variable', examples: ['DATABASE_URL'] }),
  })
  .meta({ id: 'DatastoreReference', description: 'A variable that refers to a datastore' })

const KeptVolume = z
  .object({
    volume: z.string().meta({
      description: 'Its name in the container engine',
      examples: ['dbs-4f1d0c9a7b3e5d2f6a80-0c9a7b3e'],
    }),
    version: z
      .string()
      .nullable()
      .meta({ description: 'Tag of the image that wrote it', examples: ['17'] }),
    kept_until: Timestamp,
  })
  .meta({ id: 'KeptVolume', description: 'Data that was replaced, kept for a day' })

const PASSWORD = '9c1e4f7a2b5d8e0c3f6a9b1d'

export const Datastore = reachable(
  z
    .object({
      id: idSchema('datastore'),
      name: z.string().meta({ examples: ['db'] }),
      kind: z.enum(DATASTORE_KINDS).meta({ examples: ['relational'] }),
      version: z.string().meta({ description: 'Tag of its image', examples: ['17'] }),
      environment: z.string().meta({ description: 'Name of the environment', examples: ['production'] }),
      node: idSchema('node').meta({ description: 'The node that it is on' }),
      node_name: z
        .string()
        .nullable()
        .meta({ description: 'Null for a node that is gone', examples: ['worker-1'] }),
      status: z.enum(DATASTORE_STATUSES).meta({ examples: ['available'] }),
      error: z
        .string()
        .nullable()
        .meta({
          description: 'Why it failed or is unavailable, or why it was not restored or upgraded',
          examples: [null],
        }),
      database: z
        .string()
        .nullable()
        .meta({ description: 'Null for a key-value store', examples: ['db'] }),
      username: z.string().meta({ examples: ['db'] }),
      password: secret(z.string()).meta({ examples: [PASSWORD] }),
      host_port: z
        .int()
        .nullable()
        .meta({ description: "A port of the host's loopback that leads to it", examples: [49155] }),
      internal_host: z.string().meta({ examples: ['db'] }),
      internal_port: z.int().meta({ examples: [5432] }),
      internal_url: secret(z.string()).meta({ examples: [`postgresql://db:${PASSWORD}@db:5432/db`] }),
      external_url: secret(z.string()).meta({
        description: 'URL for programs on the host itself',
        examples: [`postgresql://db:${PASSWORD}@127.0.0.1:49155/db`],
      }),
      connect_command: secret(z.string()).meta({
        description: 'Command line for a terminal on the host',
        examples: [`psql 'postgresql://db:${PASSWORD}@127.0.0.1:49155/db'`],
      }),
      internal_tls_port: z
        .int()
        .nullable()
        .meta({
          description:
            'Port for TLS inside its environment; null without TLS, as when an older version of the server started it',
          examples: [5432],
        }),
      host_tls_port: z
        .int()
        .nullable()
        .meta({
          description: "A port of the host's loopback for TLS; null without TLS",
          examples: [49155],
        }),
      ca_certificate: z
        .string()
        .nullable()
        .meta({
          description: 'PEM certificate of the authority with which clients verify it; null without TLS',
          examples: ['-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIQ...\n-----END CERTIFICATE-----\n'],
        }),
      disk_bytes: z
        .int()
        .nullable()
        .meta({
          description:
            'Disk space that it takes, measured within the last minute; null before the first measurement',
          examples: [47_448_064],
        }),
      memory_limit_mb: z
        .int()
        .meta({ description: 'MiB as configured; 0 is the server default', examples: [0] }),
      cpu_limit: z
        .number()
        .meta({ description: 'CPUs as configured; 0 is the server default', examples: [0] }),
      backup_schedule: z
        .string()
        .nullable()
        .meta({ description: 'When backups are made automatically, in UTC', examples: [null] }),
      backup_retention: z.int().meta({ description: 'How many backups are kept', examples: [7] }),
      kept_volumes: z
        .array(KeptVolume)
        .meta({ description: 'What a restore, an upgrade or a move recently replaced, newest first' }),
      move: Move.nullable().meta({ description: 'The last move to another node' }),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'Datastore', description: 'A database or a key-value store that the server runs' }),
  (datastore, reach) => (reach.datastore(datastore.id) ? datastore : undefined),
)
export type Datastore = z.infer<typeof Datastore>
