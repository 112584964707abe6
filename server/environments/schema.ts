import { z } from 'zod'
import type { Reach } from '../access/reach.ts'
import { reachable } from '../access/shown.ts'
import { EdgeDefaultsInput } from '../edge/input.ts'
import { EdgeDefaults } from '../edge/schema.ts'
import { idSchema, Name, Timestamp } from '../schema.ts'

const Address = '203.0.113.7'

export const DnsRecord = z
  .object({
    name: z.string().meta({ examples: ['*.staging.example.com'] }),
    type: z.string().meta({ description: '`A` or `AAAA`', examples: ['A'] }),
    value: z.string().meta({ examples: [Address] }),
    required: z
      .boolean()
      .meta({ description: 'False for a record that only some visitors need', examples: [true] }),
  })
  .meta({ id: 'DnsRecord', description: 'A record that points a domain at the server' })
export type DnsRecord = z.infer<typeof DnsRecord>

export const EnvironmentDns = z
  .object({
    domain: z.string().meta({ description: "The server's domain", examples: ['example.com'] }),
    wildcard: z.string().meta({
      description: "The name that covers every host of the environment's services under that domain",
      examples: ['*.staging.example.com'],
    }),
    records: z.array(DnsRecord).meta({ description: "Empty while the server's public address is not known" }),
  })
  .meta({ id: 'EnvironmentDns' })
export type EnvironmentDns = z.infer<typeof EnvironmentDns>

export const Environment = reachable(
  z
    .object({
      id: idSchema('environment'),
      name: z.string().meta({ examples: ['staging'] }),
      created_at: Timestamp,
      edge_defaults: EdgeDefaults.nullable(),
      services: z.array(z.string()).meta({ description: 'Names of the services in it', examples: [['api']] }),
      datastores: z
        .array(z.string())
        .meta({ description: 'Names of the datastores in it', examples: [['db']] }),
      url_pattern: z.string().meta({
        description: 'How URLs of its web services and static sites look',
        examples: ['http://<service>.staging.example.com'],
      }),
      dns: z.array(EnvironmentDns).meta({
        description: "What DNS needs for each of the server's domains that is not local",
      }),
    })
    .meta({
      id: 'Environment',
      description:
        'A private network with names of its own: services reach only those of their own environment by name',
    }),
  (environment, reach) => (reach.environment(environment.id) ? partFor(environment, reach) : undefined),
)
export type Environment = z.infer<typeof Environment>

/** An environment without what else is in it. */
function partFor<E extends { name: string; services: string[]; datastores: string[] }>(
  environment: E,
  reach: Reach,
): E {
  return {
    ...environment,
    services: environment.services.filter((name) => reach.serviceNamed(name, environment.name)),
    datastores: reach.holdsEnvironments ? environment.datastores : [],
  }
}

export const EnvironmentPatch = z
  .strictObject({
    edge_defaults: EdgeDefaultsInput.nullable()
      .optional()
      .meta({
        description:
          'What holds for its services that have none of their own; an absent field stays, null is nothing',
        examples: [{ basic_auth: null, ip_allow_list: [{ source: '203.0.113.0/24' }] }],
      }),
  })
  .meta({ id: 'EnvironmentPatch' })
export type EnvironmentPatch = z.infer<typeof EnvironmentPatch>

export const EnvironmentInput = z
  .strictObject({ name: Name.meta({ examples: ['staging'] }) })
  .meta({ id: 'EnvironmentInput', examples: [{ name: 'staging' }] })
export type EnvironmentInput = z.infer<typeof EnvironmentInput>
