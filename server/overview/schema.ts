import { z } from 'zod'
import { reachable } from '../access/shown.ts'
import { DATASTORE_KINDS } from '../datastores/kinds.ts'
import { DATASTORE_STATUSES } from '../datastores/states.ts'
import { DEPLOY_STATUSES } from '../deploys/states.ts'
import { JOB_STATUSES } from '../jobs/states.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { SERVICE_STATES } from '../services/schema.ts'
import { SERVICE_TYPES } from '../services/types.ts'

const points = (example: number[]) =>
  z
    .array(z.int().nullable())
    .meta({ description: 'Null where nothing was measured', examples: [[null, ...example]] })

const Traffic = z
  .object({
    requests: points([12, 30, 18]),
    status_5xx: points([0, 0, 1]),
  })
  .meta({
    id: 'OverviewTraffic',
    description: 'Requests by point of the last hour, oldest first; `traffic_from` is the start of the first',
  })

const Memory = z
  .object({
    used_bytes: z.int().meta({ description: 'Without page cache', examples: [52_428_800] }),
    limit_bytes: z
      .int()
      .nullable()
      .meta({ examples: [536_870_912] }),
  })
  .meta({ id: 'OverviewMemory', description: 'Memory of all its containers, as of the last measurement' })

const OverviewEntry = reachable(
  z
    .object({
      kind: z.enum(['service', 'datastore']).meta({ examples: ['service'] }),
      id: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80'] }),
      name: z.string().meta({ examples: ['api'] }),
      environment: z.string().meta({ description: 'Name of the environment', examples: ['production'] }),
      type: z
        .enum([...SERVICE_TYPES, ...DATASTORE_KINDS])
        .meta({ description: 'Type of the service, or kind of the datastore', examples: ['web_service'] }),
      state: z
        .enum([...new Set([...SERVICE_STATES, ...DATASTORE_STATUSES])])
        .meta({ description: 'State of the service, or status of the datastore', examples: ['running'] }),
      suspended: z.boolean().meta({ examples: [false] }),
      error: z
        .string()
        .nullable()
        .meta({
          description:
            'Why its latest deploy or its last run failed, or what is wrong with the datastore, in one line',
          examples: [null],
        }),
      instances: z
        .object({ running: z.int().meta({ examples: [2] }), wanted: z.int().meta({ examples: [2] }) })
        .nullable()
        .meta({ description: 'Of the live version; null for what runs none' }),
      traffic: Traffic.nullable().meta({ description: 'Null for what has no public address' }),
      memory: Memory.nullable().meta({ description: 'Null if nothing runs, or it is not measured' }),
      latest_deploy: z
        .object({
          id: idSchema('deploy'),
          status: z.enum(DEPLOY_STATUSES).meta({ examples: ['live'] }),
          created_at: Timestamp,
        })
        .nullable(),
      last_run: z
        .object({
          id: idSchema('job'),
          status: z.enum(JOB_STATUSES).meta({ examples: ['succeeded'] }),
          finished_at: Timestamp.nullable(),
        })
        .nullable()
        .meta({ description: 'The newest ended run of a cron job' }),
      live_deploy_id: idSchema('deploy').nullable(),
      url: z
        .string()
        .nullable()
        .meta({ examples: ['http://api.localhost'] }),
      created_at: Timestamp,
    })
    .meta({ id: 'OverviewEntry', description: 'A service or a datastore, with what it does and uses now' }),
  (entry, reach) =>
    (entry.kind === 'service' ? reach.service(entry.id) : reach.datastore(entry.id)) ? entry : undefined,
)
export type OverviewEntry = z.infer<typeof OverviewEntry>

export const Overview = z
  .object({
    at: Timestamp,
    traffic_from: Timestamp.meta({ description: 'Start of the first of 30 points' }),
    traffic_step_seconds: z
      .int()
      .meta({ description: 'From one point to the next; the last one goes on', examples: [120] }),
    entries: z
      .array(OverviewEntry)
      .meta({ description: 'Services before datastores, each by environment (production first) and name' }),
  })
  .meta({ id: 'Overview', description: 'The services and datastores of environments at a glance' })
export type Overview = z.infer<typeof Overview>
