import { z } from 'zod'
import { secret } from '../access/shown.ts'
import { QueryBoolean } from '../http/query.ts'
import { ContainerUse } from '../metrics/schema.ts'
import { idSchema, Name, text, Timestamp } from '../schema.ts'
import { MANAGER_STATES } from './manager-states.ts'
import { NODE_STATUSES } from './states.ts'

const MAX_LABELS = 32
const MAX_LABEL_CHARACTERS = 63
/** More nodes than a server has. */
const MAX_PLACES = 64

const Label = z
  .string()
  .max(MAX_LABEL_CHARACTERS)
  .regex(/^[a-z0-9](?:[a-z0-9._/-]*[a-z0-9])?$/, 'must be of a-z, 0-9, ".", "_", "/" and "-", such as disk')

export const Labels = z
  .record(Label, text(MAX_LABEL_CHARACTERS))
  .refine((labels) => Object.keys(labels).length <= MAX_LABELS, `must have at most ${MAX_LABELS} labels`)
  .meta({ examples: [{ disk: 'ssd' }] })
export type Labels = z.infer<typeof Labels>

/** A node as a request names it. */
export const NodeRef = z.string().min(1).max(MAX_LABEL_CHARACTERS)

export const PlacementInput = z
  .strictObject({
    nodes: z
      .array(NodeRef)
      .min(1)
      .max(MAX_PLACES)
      .nullable()
      .default(null)
      .meta({
        description: 'Ids or names of the nodes that may run it; null is any',
        examples: [['worker-1']],
      }),
    labels: Labels.nullable()
      .default(null)
      .meta({
        description: 'Labels that a node must have to run it',
        examples: [{ disk: 'ssd' }],
      }),
    spread: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether its instances are spread over nodes, or packed', examples: [true] }),
  })
  .meta({ id: 'PlacementInput' })
export type PlacementInput = z.infer<typeof PlacementInput>

export const PlacementView = z
  .object({
    nodes: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Names of the nodes that may run it; null is any', examples: [['worker-1']] }),
    labels: z
      .record(z.string(), z.string())
      .nullable()
      .meta({ description: 'Labels that a node must have to run it', examples: [null] }),
    spread: z.boolean().meta({ examples: [true] }),
  })
  .meta({ id: 'Placement', description: 'Where the instances of a service may run' })
export type PlacementView = z.infer<typeof PlacementView>

export const AVAILABILITIES = ['active', 'drain'] as const

const Bound = z
  .object({
    kind: z.enum(['service', 'datastore']).meta({ examples: ['datastore'] }),
    id: z.string().meta({ examples: ['dbs-4f1d0c9a7b3e5d2f6a80'] }),
    name: z.string().meta({ examples: ['db'] }),
    environment: z.string().meta({ examples: ['production'] }),
  })
  .meta({ id: 'BoundToNode', description: 'Something whose data is on a node' })

const nullable = <S extends z.ZodType>(schema: S, example: unknown) =>
  schema.nullable().meta({ examples: [example] })

export const Node = z
  .object({
    id: idSchema('node'),
    name: z.string().meta({ examples: ['worker-1'] }),
    status: z.enum(NODE_STATUSES).meta({ examples: ['ready'] }),
    reason: nullable(z.string(), null).meta({
      description: 'Why it is not ready, what keeps a drain, or what is not as it should be',
    }),
    progress: z
      .object({ done: z.int().meta({ examples: [3] }), total: z.int().meta({ examples: [5] }) })
      .nullable()
      .meta({ description: 'How many of its instances a drain has replaced elsewhere; null without one' }),
    availability: z.enum(AVAILABILITIES).meta({
      description: '`drain` takes nothing new, and what can move goes elsewhere',
      examples: ['active'],
    }),
    roles: z.array(z.enum(['server', 'manager', 'entry'])).meta({
      description:
        'Empty for a worker; an `entry` also serves requests, a `manager` carries the state of the swarm',
      examples: [['server', 'manager', 'entry']],
    }),
    manager: nullable(z.enum([...MANAGER_STATES, 'becoming', 'ceasing']), 'reachable').meta({
      description:
        "What the swarm says of it as a manager; null for a worker. `becoming` is to be one and is not yet, `ceasing` is one and is not to be. `unreachable` of the server's own node means that too many managers are away to change anything",
    }),
    address: nullable(z.string(), '10.0.0.2').meta({ description: 'Where the other nodes reach it' }),
    public_address: nullable(z.string(), '203.0.113.8').meta({
      description: 'What DNS records name for it as an entry; null for `address`',
    }),
    labels: z.record(z.string(), z.string()).meta({ examples: [{ disk: 'ssd' }] }),
    engine_version: nullable(z.string(), '28.5.1'),
    architecture: nullable(z.string(), 'amd64'),
    cpus: nullable(z.number(), 4),
    memory_bytes: nullable(z.int(), 8_589_934_592),
    disk_free_bytes: nullable(z.int(), 53_687_091_200),
    instances: z.int().meta({ description: 'How many instances are on it', examples: [5] }),
    bound: z.array(Bound).meta({ description: 'What has its data there, which only a move takes elsewhere' }),
    last_seen_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Node', description: 'A machine with a container engine that runs what the server has' })
export type Node = z.infer<typeof Node>

export const NodeInput = z
  .strictObject({
    role: z
      .enum(['worker', 'manager', 'entry'])
      .default('worker')
      .meta({
        description:
          'What the new node is to be: an `entry` also serves requests once it is ready; a manager is made of a node later',
        examples: ['worker'],
      }),
    // Two are refused with `conflict`, since that depends on what managers are for, and not on the request.
    managers: z
      .int()
      .min(1)
      .optional()
      .meta({
        description: 'Lets no machine join, but says how many managers there are to be: one or three',
        examples: [3],
      }),
    nodes: z
      .array(NodeRef)
      .max(MAX_PLACES)
      .optional()
      .meta({
        description:
          'Ids or names of the two nodes that become managers besides the one of the server; without it those that are, then those with most memory',
        examples: [['worker-1', 'worker-2']],
      }),
  })
  .refine(({ role, managers }) => managers === undefined || role === 'worker', {
    path: ['role'],
    message: 'is of a machine that joins, and with managers none does: leave it out',
  })
  .meta({ id: 'NodeInput', examples: [{}, { managers: 3, nodes: ['worker-1', 'worker-2'] }] })
export type NodeInput = z.infer<typeof NodeInput>

export const NodeInvitation = z
  .object({
    command: secret(z.string()).meta({
      description: 'What to run on the new machine, as root',
      examples: [
        "curl -fsSk --pinnedpubkey 'sha256//…' https://10.0.0.1:7879/join/… | docker load && docker swarm join --token SWMTKN-… 10.0.0.1:2377",
      ],
    }),
    token: secret(z.string()).meta({ examples: ['SWMTKN-…'] }),
    expires_at: Timestamp.meta({ description: 'It ends before, 30 s after a node begins to join' }),
    node_port: z.int().meta({
      description: 'The TCP port of the server and of each node that must be open besides those of Docker',
      examples: [7879],
    }),
  })
  .meta({ id: 'NodeInvitation', description: 'How a machine joins' })
export type NodeInvitation = z.infer<typeof NodeInvitation>

export const NodePatch = z
  .strictObject({
    name: Name.optional().meta({ examples: ['worker-1'] }),
    availability: z
      .enum(AVAILABILITIES)
      .optional()
      .meta({
        description: '`drain` answers at once; `status` and `progress` tell how far it is',
        examples: ['drain'],
      }),
    labels: Labels.optional().meta({ description: 'Becomes all of its labels' }),
    entry: z
      .boolean()
      .optional()
      .meta({
        description:
          "Whether it also serves requests, with the private keys of all hosts; always true for the server's own node",
        examples: [true],
      }),
    public_address: z
      .ipv4('must be an IPv4 address, such as 203.0.113.8')
      .nullable()
      .optional()
      .meta({
        description: 'What DNS records name for it as an entry; null for `address`',
        examples: ['203.0.113.8'],
      }),
  })
  .meta({ id: 'NodePatch', examples: [{ availability: 'drain' }] })
export type NodePatch = z.infer<typeof NodePatch>

export const NodeRemoval = z.strictObject({
  lost: QueryBoolean.describe('Removes the record of a node that is `down` and does not come back'),
})

/** What a node's host uses now. Null for what is not known. */
export const HostFigures = z.object({
  cpu_percent: nullable(z.number(), 7.5).meta({ description: '0 to 100, of the whole machine' }),
  memory_used_bytes: nullable(z.number(), 1_073_741_824).meta({ description: 'Without page cache' }),
  memory_total_bytes: nullable(z.number(), 4_294_967_296),
  disk_used_bytes: nullable(z.number(), 17_179_869_184).meta({
    description: "Of the disk of the engine's data",
  }),
  disk_total_bytes: nullable(z.number(), 68_719_476_736),
})
export type HostFigures = z.infer<typeof HostFigures>

export const NodeMetrics = z
  .object({
    at: Timestamp,
    host: HostFigures.nullable().meta({ description: 'Null while the node does not answer' }),
    containers: z.array(ContainerUse).meta({ description: 'What runs there, the busiest first' }),
  })
  .meta({ id: 'NodeMetrics', description: 'What a node and the containers on it are doing now' })
export type NodeMetrics = z.infer<typeof NodeMetrics>

export const NodeCheck = z
  .object({
    ok: z.boolean().meta({ examples: [false] }),
    checks: z.array(
      z
        .object({
          what: z.string().meta({ description: 'What was tried', examples: ['udp 4789'] }),
          from: z.string().meta({ description: 'Name of the node that tried', examples: ['server'] }),
          to: z
            .string()
            .meta({ description: 'Name of the node that it reached for', examples: ['worker-1'] }),
          ok: z.boolean().meta({ examples: [false] }),
          message: z.string().meta({
            description: 'What was found, and what to do about it',
            examples: ['worker-1 does not get frames of UDP 4789 from server: open the port between them'],
          }),
        })
        .meta({ id: 'NodePairCheck' }),
    ),
  })
  .meta({ id: 'NodeCheck', description: 'Whether a node and the others reach each other' })
export type NodeCheck = z.infer<typeof NodeCheck>
