import { z } from 'zod'
import { timestamp } from '../clock.ts'
import { clampedLimit, QueryBoolean } from '../http/query.ts'
import { Moment, Timestamp } from '../schema.ts'

/** Who can act. `system` is the server by itself, `host` a command on its host. */
export const ACTOR_KINDS = [
  'session',
  'token',
  'terminal',
  'server_token',
  'deploy_hook',
  'webhook',
  'system',
  'host',
] as const
export const OUTCOMES = ['succeeded', 'refused'] as const
const MAX_FILTER = 256

/** Who acts; id and name are null where the kind says it all, or nobody was recognized. */
export interface Actor {
  kind: (typeof ACTOR_KINDS)[number]
  id: string | null
  name: string | null
}

/** What an action is about, as it was called then. */
export interface Resource {
  kind: string
  id: string | null
  name: string | null
  environment: string | null
}

export const AuditEvent = z
  .object({
    id: z.string().meta({ examples: ['aud-0123456789abcdef0123'] }),
    at: Timestamp,
    request_id: z
      .string()
      .nullable()
      .meta({ description: '`X-Request-Id` of the answer; null without a request' }),
    ip: z
      .string()
      .nullable()
      .meta({ examples: ['198.51.100.7'] }),
    user_agent: z.string().nullable(),
    outcome: z.enum(OUTCOMES),
    actor: z.object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable(), name: z.string().nullable() }),
    action: z.string().meta({ examples: ['service.updated'] }),
    resource: z
      .object({
        kind: z.string().meta({ examples: ['service'] }),
        id: z.string().nullable(),
        name: z.string().nullable(),
        environment: z
          .string()
          .nullable()
          .meta({ examples: ['production'] }),
      })
      .nullable(),
    changes: z.array(z.string()).meta({
      description: 'What was changed; of secrets only that they were',
      examples: [['port: 3000 -> 8080', 'env.KEY: changed']],
    }),
  })
  .meta({ id: 'AuditEvent', description: 'What was done, or refused' })

export type AuditEvent = z.infer<typeof AuditEvent>

const Filter = z.string().min(1).max(MAX_FILTER)

export const AuditQuery = z.strictObject({
  since: Moment.optional().meta({ description: 'Not earlier' }),
  until: Moment.optional().meta({ description: 'Earlier than this' }),
  actor: Filter.optional().meta({ description: 'Kind, id or name of who acted', examples: ['token'] }),
  action: Filter.optional().meta({
    description: 'An action, or what comes before the dot',
    examples: ['service.updated'],
  }),
  resource: Filter.optional().meta({
    description: 'Kind, id or name of what it was about',
    examples: ['web'],
  }),
  environment: Filter.optional().meta({ description: 'Name of an environment', examples: ['production'] }),
  outcome: z.enum(OUTCOMES).optional().meta({ description: 'Either, when absent' }),
  limit: clampedLimit(100, 1_000),
  follow: QueryBoolean,
})
export type AuditQuery = z.output<typeof AuditQuery>

/** An event as it is stored. */
export interface AuditRow {
  id: string
  /** In milliseconds. */
  at: number
  outcome: (typeof OUTCOMES)[number]
  action: string
  actor_kind: Actor['kind']
  actor_id: string | null
  actor_name: string | null
  request_id: string | null
  ip: string | null
  user_agent: string | null
  resource_kind: string | null
  resource_id: string | null
  resource_name: string | null
  resource_environment: string | null
  /** JSON. */
  changes: string
}

/** An event as clients see it. */
export function viewAuditEvent(row: AuditRow): z.input<typeof AuditEvent> {
  return {
    id: row.id,
    at: timestamp(row.at),
    request_id: row.request_id,
    ip: row.ip,
    user_agent: row.user_agent,
    outcome: row.outcome,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    resource:
      row.resource_kind === null
        ? null
        : {
            kind: row.resource_kind,
            id: row.resource_id,
            name: row.resource_name,
            environment: row.resource_environment,
          },
    changes: JSON.parse(row.changes) as string[],
  }
}
