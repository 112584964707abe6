import { z } from 'zod'
import { ask, type Call } from '../call.ts'
import { CURSOR, paged } from '../paging.ts'
import { IN_ENVIRONMENT, IN_ENVIRONMENT_OR_ALL, listed, OF_SERVICE, placeOf } from '../places.ts'
import { NEW_SERVICE, SETTINGS } from '../service-fields.ts'
import { Deploy, Instance, MORE, ServiceSummary, Settings, StartedDeploy } from '../shapes.ts'
import { defineTool, type Made, type Tool } from '../tool.ts'

/** What is read of a service; the rest passes through to the shape of the answer. */
const Viewed = z.looseObject({
  name: z.string(),
  environment: z.string(),
  state: z.string(),
  latest_deploy: z.looseObject({ created_at: z.string() }).nullable(),
})
type Viewed = z.output<typeof Viewed>
const Status = z.looseObject({ instances: z.array(z.unknown()) })

const STATES = [
  ...(['not_deployed', 'deploying', 'running', 'degraded', 'down'] as const),
  ...(['suspended', 'idle', 'failed', 'deleting'] as const),
] as const

export const SERVICE_READERS: Tool[] = [
  defineTool({
    name: 'list_services',
    title: 'List services',
    description: 'The services of an environment with type, state, URL and source.',
    effect: 'read',
    input: {
      ...IN_ENVIRONMENT_OR_ALL,
      state: z.enum(STATES).optional(),
      limit: z.int().min(1).max(500).default(50),
      ...CURSOR,
    },
    output: { services: z.array(ServiceSummary), ...MORE },
    async run({ environment, state, limit, cursor }, { call }) {
      const all = await listed(call, 'services', Viewed, environment)
      const items = all.filter((service) => state === undefined || service.state === state).map(summary)
      const keyOf = (service: Viewed) => `${service.environment}/${service.name}`
      return paged({ list: 'services', items, keyOf, cursor, limit })
    },
  }),
  defineTool({
    name: 'get_service',
    title: 'Get a service',
    description:
      'The settings of a service, its instances (state, health, restarts, why one is not healthy, CPU, memory) and its latest deploy. Variables: list_variables.',
    effect: 'read',
    input: OF_SERVICE,
    output: { service: Settings, instances: z.array(Instance), latest_deploy: Deploy.nullish() },
    async run({ service, environment }, { call }) {
      const { path, query } = placeOf('services', service, environment)
      const [found, status] = await Promise.all([
        ask(call, Viewed, 'GET', path, { query }),
        ask(call, Status, 'GET', `${path}/status`, { query }),
      ])
      return {
        value: { service: found, instances: status.instances, latest_deploy: found.latest_deploy },
      }
    },
  }),
]

const CHANGED = { service: ServiceSummary }

export const SERVICE_WRITERS: Tool[] = [
  defineTool({
    name: 'create_service',
    title: 'Create a service',
    description:
      'Creates a service from a repository or an image and queues its first deploy; without either it waits for a folder. detect_source says what a repository needs. Values may refer to others: ${{datastore.NAME.url}}.',
    effect: 'write',
    input: { ...NEW_SERVICE, ...IN_ENVIRONMENT },
    output: { service: ServiceSummary, deploy: StartedDeploy.nullish() },
    async run(input, { call }) {
      const made = await ask(call, Viewed, 'POST', '/services', { body: input })
      return { value: { service: summary(made), deploy: made.latest_deploy } }
    },
  }),
  defineTool({
    name: 'update_service',
    title: 'Change settings of a service',
    description:
      'Replaces the given settings; an empty text clears one. Most take effect at the next deploy or restart. Instances: scale_service; variables: set_variables.',
    effect: 'change',
    idempotent: true,
    input: { ...OF_SERVICE, name: z.string().optional().describe('A new name'), ...SETTINGS },
    output: CHANGED,
    async run({ service, environment, ...body }, { call }) {
      const { path, query } = placeOf('services', service, environment)
      return changed(await ask(call, Viewed, 'PATCH', path, { query, body }))
    },
  }),
  defineTool({
    name: 'scale_service',
    title: 'Scale a service',
    description: 'Sets how many instances run, at once and without a deploy. With 0 it answers 503.',
    effect: 'change',
    idempotent: true,
    input: { ...OF_SERVICE, instances: z.int().min(0).max(32) },
    output: CHANGED,
    run: ({ service, environment, instances }, { call }) =>
      act(call, service, environment, 'scale', { instances }),
  }),
  defineTool({
    name: 'suspend_service',
    title: 'Suspend a service',
    description:
      'Stops a service until resume_service, and cancels its deploy in progress. Settings, variables and deploys stay.',
    effect: 'change',
    idempotent: true,
    input: OF_SERVICE,
    output: CHANGED,
    run: ({ service, environment }, { call }) => act(call, service, environment, 'suspend'),
  }),
  defineTool({
    name: 'resume_service',
    title: 'Resume a service',
    description: 'Starts the live version of a suspended service again.',
    effect: 'write',
    idempotent: true,
    input: OF_SERVICE,
    output: CHANGED,
    run: ({ service, environment }, { call }) => act(call, service, environment, 'resume'),
  }),
]

async function act(
  call: Call,
  service: string,
  environment: string | undefined,
  action: string,
  body?: object,
): Promise<Made> {
  const { path, query } = placeOf('services', service, environment)
  return changed(await ask(call, Viewed, 'POST', `${path}/${action}`, { query, body }))
}

function changed(service: Viewed): Made {
  return { value: { service: summary(service) } }
}

function summary(service: Viewed): Viewed {
  return { ...service, deployed_at: service.latest_deploy?.created_at }
}
