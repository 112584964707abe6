import { z } from 'zod'
import { ask, type Call, segment, ToolFault } from '../call.ts'
import { CURSOR, paged } from '../paging.ts'
import { IN_ENVIRONMENT, placeOf } from '../places.ts'
import { flag, MORE, text } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'

/** How a value refers to a service or a datastore. */
const REFERENCE = '${{'

/** The value is null for a token that sees no secrets. */
const Variable = z.object({ key: z.string(), value: z.string().nullable() })
const Group = z.object({ id: z.string(), name: z.string(), vars: z.array(Variable) })
const Linked = z.object({ env_groups: z.array(z.string()) })

const OF_ANY = {
  service: z.string().min(1).optional(),
  group: z.string().min(1).optional().describe('An env group instead'),
  ...IN_ENVIRONMENT,
}

/** What is told about a variable: never its value. */
interface Known {
  key: string
  group?: string
  /** Null if that cannot be told without its value. */
  reference: boolean | null
}

export const VARIABLE_READERS: Tool[] = [
  defineTool({
    name: 'list_variables',
    title: 'List variables',
    description:
      'The names of the variables of a service (its own and those of its env groups) or of an env group; values are never shown. group: where a variable comes from; reference: its value refers to a service or datastore.',
    effect: 'read',
    input: { ...OF_ANY, ...CURSOR },
    output: {
      variables: z.array(z.object({ key: z.string(), group: text, reference: flag })),
      ...MORE,
    },
    async run({ service, group, environment, cursor }, { call }) {
      assertOne(service, group)
      const items =
        group === undefined
          ? await variablesOf(call, service!, environment)
          : known((await groupNamed(call, group)).vars, undefined)
      return paged({ list: 'variables', items, keyOf: ({ key }) => key, cursor })
    },
  }),
]

export const VARIABLE_WRITERS: Tool[] = [
  defineTool({
    name: 'set_variables',
    title: 'Set variables',
    description:
      'Sets and removes variables of a service or an env group; the others stay. Programs get them at the next deploy or restart, or now with restart. A value may refer to others: ${{datastore.NAME.url}}.',
    effect: 'change',
    idempotent: true,
    input: {
      ...OF_ANY,
      set: z.record(z.string(), z.string()).optional(),
      unset: z.array(z.string()).optional(),
      restart: z.boolean().optional(),
    },
    output: { set: z.array(z.string()), unset: z.array(z.string()), restarting: z.boolean() },
    async run({ service, group, environment, set = {}, unset = [], restart = false }, { call }) {
      assertOne(service, group)
      const { path, query } =
        group === undefined
          ? placeOf('services', service!, environment)
          : { path: `/env-groups/${segment(group)}`, query: {} }
      const given = { query: { ...query, restart: String(restart) }, body: { set, unset } }
      await ask(call, z.unknown(), 'PATCH', `${path}/env`, given)
      return { value: { set: Object.keys(set), unset, restarting: restart } }
    },
  }),
]

function assertOne(service: string | undefined, group: string | undefined): void {
  if ((service === undefined) === (group === undefined))
    throw new ToolFault('invalid_request', 'service: name a service or a group, and only one of them')
}

/** All variables that a service's program gets: its own win over those of groups, and a later group over an earlier one. */
async function variablesOf(call: Call, service: string, environment: string | undefined): Promise<Known[]> {
  const { path, query } = placeOf('services', service, environment)
  const [{ env_groups }, own, groups] = await Promise.all([
    ask(call, Linked, 'GET', path, { query }),
    ask(call, z.array(Variable), 'GET', `${path}/env`, { query }),
    ask(call, z.array(Group), 'GET', '/env-groups'),
  ])
  const linked = env_groups.flatMap((name) => groups.filter((group) => group.name === name))
  const all = [...linked.flatMap(({ name, vars }) => known(vars, name)), ...known(own, undefined)]
  const effective = new Map(all.map((variable) => [variable.key, variable]))
  return [...effective.values()].toSorted((left, right) => left.key.localeCompare(right.key))
}

async function groupNamed(call: Call, group: string): Promise<z.output<typeof Group>> {
  return ask(call, Group, 'GET', `/env-groups/${segment(group)}`)
}

function known(variables: z.output<typeof Variable>[], group: string | undefined): Known[] {
  return variables.map(({ key, value }) => ({
    key,
    ...(group === undefined ? {} : { group }),
    reference: value === null ? null : value.includes(REFERENCE),
  }))
}
