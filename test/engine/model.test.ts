import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomFrom } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { drawOperation, type Operation } from './model-operations.ts'
import { Model } from './model.ts'

/** The beginning of a walk, and the rest of it in `npm test -- --all`. */
const FIRST_STEPS = 30
const FURTHER_STEPS = Number(process.env.DEPLOYER_MODEL_STEPS ?? 120)
/** The walk is the same every time; another seed gives another walk. */
const SEED = Number(process.env.DEPLOYER_MODEL_SEED ?? 1)
const SHARE_OF_PAIRS = 0.3
const SHARE_OF_RESTARTS = 0.015
/** The log of a walk, to be read when it goes wrong. */
const LAST_STEPS = 15

let server: TestServer
beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
})
afterAll(() => server.stop())

/** Ids by the creation of their service, which keeps its id, and the creations of all ids ever seen. */
const idOf = new Map<number, string>()
const birthOf = new Map<string, number>()

async function get<T>(path: string): Promise<T> {
  const { status, body } = await server.api('GET', path)
  expect([path, status]).toEqual([path, 200])
  return body as T
}

type Named = Record<string, unknown> & { id: string; name: string; environment: string }
const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
const qualified = (environment: string, name: string) =>
  environment === 'production' ? name : `${name}.${environment}`

/** What the API contains, in the model's terms. */
async function held(model: Model): Promise<Record<string, unknown>> {
  const environments = await get<(Named & { services: string[] })[]>('/environments')
  expect(environments[0]?.name).toBe('production')
  const lists = environments.map(({ name }) => get<Named[]>(`/services?environment=${name}`))
  const services = (await Promise.all(lists)).flat().map(async (service) => {
    const kept = model.services.get(`${service.environment}/${service.name}`)
    const fields = Object.keys(kept?.fields ?? {}).filter((field) => field !== 'birth')
    return {
      name: qualified(service.environment, service.name),
      id: service.id,
      env: await get(`/services/${service.id}/env`),
      groups: service.env_groups,
      ...Object.fromEntries(fields.map((field) => [field, service[field]])),
    }
  })
  const groups = await get<(Named & { services: string[]; vars: unknown })[]>('/env-groups')
  return {
    environments: environments
      .map(({ name, services: names }) => ({ name, services: names.toSorted() }))
      .toSorted(byName),
    services: (await Promise.all(services)).toSorted(byName),
    groups: groups
      .map(({ name, vars, services: names }) => ({ name, vars, services: names.toSorted() }))
      .toSorted(byName),
    domains: (await get<Named[]>('/domains')).map(({ name }) => name).toSorted(),
  }
}

/** What the API should contain. */
function expected(model: Model): Record<string, unknown> {
  const places = [...model.services].map(([place, kept]) => {
    const [environment = '', name = ''] = place.split('/')
    return { environment, short: name, name: qualified(environment, name), kept }
  })
  const listedAs = (variables: Map<string, string>) =>
    Array.from(variables, ([key, value]) => ({ key, value }))
  return {
    environments: Array.from(model.environments, (name) => ({
      name,
      services: places
        .filter(({ environment }) => environment === name)
        .map(({ short }) => short)
        .toSorted(),
    })).toSorted(byName),
    services: places
      .map(({ name, kept: { fields, variables, groups } }) => {
        const { birth, ...rest } = fields
        return {
          name,
          id: idOf.get(birth) ?? (expect.any(String) as string),
          env: listedAs(variables),
          groups,
          ...rest,
        }
      })
      .toSorted(byName),
    groups: Array.from(model.groups, ([name, variables]) => ({
      name,
      vars: listedAs(variables),
      services: places
        .filter(({ kept }) => kept.groups.includes(name))
        .map((place) => place.name)
        .toSorted(),
    })).toSorted(byName),
    domains: [...model.domains].toSorted(),
  }
}

async function compare(model: Model, story: readonly string[]): Promise<void> {
  const now = await held(model)
  expect({ story, ...now }).toEqual({ story, ...expected(model) })
  const services = now.services as { name: string; id: string }[]
  for (const [place, { fields }] of model.services) {
    const [environment = '', name = ''] = place.split('/')
    const { id } = services.find((service) => service.name === qualified(environment, name))!
    // An id is never given to another object, whatever became of its first owner.
    expect({ story, id, birth: birthOf.get(id) ?? fields.birth }).toEqual({ story, id, birth: fields.birth })
    birthOf.set(id, fields.birth)
    idOf.set(fields.birth, id)
  }
}

function send({ method, path, body }: Operation): Promise<number> {
  return server.api(method, path, body).then(({ status }) => status)
}

function told({ method, path, body }: Operation): string {
  return `${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`
}

/** The models that the orders of these operations lead to, for those orders that match the actual answers. */
function outcomes(model: Model, operations: readonly Operation[], statuses: readonly number[]): Model[] {
  const orders =
    operations.length === 1
      ? [[0]]
      : [
          [0, 1],
          [1, 0],
        ]
  return orders.flatMap((order) => {
    const next = new Model(model)
    return order.every((at) => operations[at]!.expect(next) === statuses[at]) ? [next] : []
  })
}

async function matching(models: readonly Model[], story: readonly string[]): Promise<Model> {
  for (const model of models.slice(0, -1)) {
    if (
      await compare(model, story).then(
        () => true,
        () => false,
      )
    )
      return model
  }
  await compare(models.at(-1)!, story)
  return models.at(-1)!
}

/** Stops the server in the middle of a request and starts it again: the request is either done or not. */
async function interrupted(model: Model, random: () => number, story: string[]): Promise<Model> {
  let operation: Operation
  // Deleting a service takes time, during which it is still visible.
  do operation = drawOperation(random)
  while (operation.method === 'DELETE' && operation.path.startsWith('/services'))
  const sent = send(operation).catch(() => null)
  await server.kill(random() < 0.5 ? 'SIGKILL' : 'SIGTERM')
  const status = await sent
  await server.restart()
  story.push(`${status} ${told(operation)}, and started again`)
  const done = new Model(model)
  operation.expect(done)
  return matching(status === null ? [model, done] : [done], story.slice(-LAST_STEPS))
}

const random = randomFrom(SEED)
const story: string[] = [`seed ${SEED}`]
let model = new Model()

test('the stored state equals that of a plain model, after any requests, two at a time, and kills', () =>
  walk(FIRST_STEPS))

test('and so it is after many more', { tags: ['slow'] }, () => walk(FURTHER_STEPS))

async function walk(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const operations = Array.from({ length: random() < SHARE_OF_PAIRS ? 2 : 1 }, () => drawOperation(random))
    const statuses = await Promise.all(operations.map(send))
    story.push(operations.map((operation, at) => `${statuses[at]} ${told(operation)}`).join('\n  beside '))
    const possible = outcomes(model, operations, statuses)
    if (possible.length === 0)
      expect.fail(`no order of these explains their answers:\n${story.slice(-LAST_STEPS).join('\n')}`)
    model = await matching(possible, story.slice(-LAST_STEPS))
    if (random() < SHARE_OF_RESTARTS) model = await interrupted(model, random, story)
  }
}
