import type { EnvGroup } from '#server/env-groups/schema.ts'
import type { z } from 'zod'
import type { EnvVar, ShownEnvVar } from '#server/variables/schema.ts'
import type { Call } from '../call.ts'
import { wrong } from '../fault.ts'
import type { Api } from './api.ts'
import { readEnvFile } from './env-file.ts'
import { pairOf } from './fields.ts'
import { readText } from './input.ts'
import { shown } from './secrets.ts'
import { pathTo, qualifiedName, serviceOf } from './target.ts'

/** A variable; its value is null for a token that sees no secrets. */
export type ShownVariable = z.output<typeof ShownEnvVar>

/** What has variables of its own: a service, or a group that services share. */
export interface Holder {
  title: string
  /** When what runs gets a change. */
  takesEffect: string
  read: () => Promise<ShownVariable[]>
  /** Sets some and removes others, in one request. */
  change: (change: { set?: readonly EnvVar[]; unset?: readonly string[] }) => Promise<ShownVariable[]>
  replace: (variables: readonly EnvVar[]) => Promise<ShownVariable[]>
}

/** The group of `--group`, else the service of the command. `--restart` goes with each of its changes. */
export async function holderOf(call: Call, api: Api, word: string | null): Promise<Holder> {
  const restart = call.has('restart') || null
  const group = call.text('group')
  if (group !== null) {
    if (word !== null || call.has('service')) throw wrong('name a service or a group, not both')
    return groupHolder(api, group, { restart })
  }
  const target = await serviceOf(call, api, word)
  const { environment } = target
  const path = pathTo('services', target, '/env')
  return {
    title: qualifiedName(target),
    takesEffect: `the next deploy, or deployer restart ${qualifiedName(target)}`,
    read: () => api.get(path, { environment }),
    change: (change) => api.send('PATCH', path, change, { query: { environment, restart } }),
    replace: (vars) => api.send('PUT', path, { vars }, { query: { environment, restart } }),
  }
}

function groupHolder(api: Api, name: string, query: { restart: true | null }): Holder {
  const path = pathTo('env-groups', { name })
  const variables = async (answer: Promise<EnvGroup>): Promise<ShownVariable[]> => (await answer).vars
  return {
    title: `the group ${name}`,
    takesEffect: 'the next deploy or restart of their service',
    read: () => variables(api.get(path)),
    change: (change) => variables(api.send('PATCH', `${path}/env`, change, { query })),
    replace: (vars) => variables(api.send('PUT', `${path}/env`, { vars }, { query })),
  }
}

/** The variables with their values. Throws Fault when the token sees none. */
export function withValues(variables: readonly ShownVariable[]): EnvVar[] {
  return variables.map(({ key, value }) => ({ key, value: shown(value) }))
}

/** The variables of a `.env` file, or of standard input for `-`. Warns of what may be meant differently. */
export async function fileVariables({ out }: Call, file: string): Promise<EnvVar[]> {
  const { variables, warnings } = readEnvFile(file, await readText(file))
  for (const warning of warnings) out.note(`warning: ${warning}`)
  return variables
}

/** The variables of `--env-file` and `--env K=V`; a later one replaces an earlier one. */
export async function givenVariables(call: Call): Promise<EnvVar[]> {
  const found = new Map<string, string>()
  for (const file of call.texts('env-file'))
    for (const { key, value } of await fileVariables(call, file)) found.set(key, value)
  for (const word of call.texts('env')) found.set(...pairOf(word))
  return [...found].map(([key, value]) => ({ key, value }))
}
