import { z } from 'zod'
import type { Reach } from '../access/reach.ts'
import { reachable } from '../access/shown.ts'
import { QueryBoolean } from '../http/query.ts'
import { idSchema, Name, Timestamp } from '../schema.ts'
import { EnvVars, ShownEnvVar } from '../variables/schema.ts'

export const EnvGroup = reachable(
  z
    .object({
      id: idSchema('envGroup'),
      name: z.string().meta({ examples: ['shared'] }),
      vars: z.array(ShownEnvVar),
      services: z.array(z.string()).meta({
        description: 'Names of the linked services, outside production with their environment: `api.staging`',
        examples: [['api']],
      }),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'EnvGroup', description: 'A set of variables that services of any environment share' }),
  (group, reach) => (reach.envGroup(group.id) ? partFor(group, reach) : undefined),
)
export type EnvGroup = z.infer<typeof EnvGroup>

/** A group without the other services that it is linked to. */
function partFor<G extends { services: string[] }>(group: G, reach: Reach): G {
  return { ...group, services: group.services.filter((name) => reach.serviceQualified(name)) }
}

export const EnvGroupInput = z
  .strictObject({ name: Name.meta({ examples: ['shared'] }), vars: EnvVars.default([]) })
  .meta({
    id: 'EnvGroupInput',
    examples: [{ name: 'shared', vars: [{ key: 'LOG_LEVEL', value: 'info' }] }],
  })
export type EnvGroupInput = z.infer<typeof EnvGroupInput>

const Restart = QueryBoolean.describe('Restarts the live services whose environment this changes')

/** What a change to a group's variables returns. */
export const EnvGroupQuery = z.strictObject({ restart: Restart })

export const EnvGroupDeletion = z.strictObject({
  force: QueryBoolean.describe('Deletes it even when services are linked to it'),
  restart: Restart,
})

export const EnvGroupLink = z
  .strictObject({
    group: z
      .string()
      .min(1)
      .meta({ description: 'Id or name', examples: ['shared'] }),
  })
  .meta({ id: 'EnvGroupLink' })

/** The path of the link between a service and a group. */
export const EnvGroupLinkRef = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id or name of the service', examples: ['api'] }),
  group: z
    .string()
    .min(1)
    .meta({ description: 'Id or name of the env group', examples: ['shared'] }),
})
