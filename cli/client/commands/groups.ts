import type { EnvGroup } from '#server/env-groups/schema.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { pathTo, qualifiedName, segment, serviceOf } from '../target.ts'
import { givenVariables } from '../variables.ts'
import { withApi } from '../with-api.ts'

/** Lists the groups of variables, without their values. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const groups = await withApi(call, (api) => api.get<EnvGroup[]>('/env-groups'))
  printList(out, groups, {
    columns: [
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'variables', text: ({ vars }) => String(vars.length) },
      { title: 'services', text: ({ services }) => services.join(', ') },
      { title: 'changed', text: ({ updated_at }) => timeText(out, updated_at) },
    ],
    name: ({ name }) => name,
    emptyNote: 'There are no groups. deployer groups create <name> --env KEY=value creates one.',
  })
}

/** Creates a group with the given variables. */
export async function create(call: Call): Promise<void> {
  const vars = await givenVariables(call)
  const group = await withApi(call, (api) =>
    api.send<EnvGroup>('POST', '/env-groups', { name: call.words[0], vars }),
  )
  call.out.done(`${group.name} is created; deployer groups link ${group.name} <service> shares it`, group)
}

/** Deletes a group. */
export async function remove(call: Call): Promise<void> {
  const name = call.words[0]!
  const query = { force: call.has('force') || null, restart: call.has('restart') || null }
  await withApi(call, (api) => api.send('DELETE', pathTo('env-groups', { name }), undefined, { query }))
  call.out.done(`${name} is deleted`)
}

/** Gives a service the variables of a group. */
export async function link(call: Call): Promise<void> {
  const [group, word] = call.words as [string, string?]
  const service = await withApi(call, async (api) => {
    const target = await serviceOf(call, api, word ?? null)
    const query = { environment: target.environment }
    return api.send<Service>('POST', pathTo('services', target, '/env-groups'), { group }, { query })
  })
  call.out.done(
    `${qualifiedName(service)} gets the variables of ${group} at its next deploy or restart`,
    service,
  )
}

/** Takes the variables of a group from a service. */
export async function unlink(call: Call): Promise<void> {
  const [group, word] = call.words as [string, string?]
  const service = await withApi(call, async (api) => {
    const target = await serviceOf(call, api, word ?? null)
    const path = pathTo('services', target, `/env-groups/${segment(group)}`)
    return api.send<Service>('DELETE', path, undefined, { query: { environment: target.environment } })
  })
  call.out.done(
    `${qualifiedName(service)} loses the variables of ${group} at its next deploy or restart`,
    service,
  )
}
