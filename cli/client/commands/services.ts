import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import { confirm } from '../ask.ts'
import { printList } from '../columns.ts'
import { fieldsOf, readFields } from '../fields.ts'
import { timeText } from '../figures.ts'
import { listOf, pathTo, qualifiedName, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'

/** Lists the services of an environment, or of all. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const { rows, isOfAll } = await withApi(call, (api) => listOf<Service>(call, api, 'services'))
  printList(out, rows, {
    columns: [
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'environment', text: ({ environment }) => environment, isWhole: true },
      { title: 'type', text: ({ type }) => type },
      { title: 'state', text: ({ state }) => state },
      { title: 'url', text: ({ url }) => url ?? '' },
      { title: 'deployed', text: (row) => timeText(out, row.latest_deploy?.finished_at ?? null) },
    ],
    name: (service) => (isOfAll ? qualifiedName(service) : service.name),
    emptyNote: 'There are no services. deployer create <name> creates one; deployer deploy deploys a folder.',
  })
}

/** Changes fields of a service. */
export async function update(call: Call): Promise<void> {
  const { words } = call
  const hasService = words[0] !== undefined && !words[0].includes('=')
  const pairs = hasService ? words.slice(1) : words
  if (pairs.length === 0) throw wrong('name a field and its value, such as branch=main')
  const { before, after } = await withApi(call, async (api) => {
    const target = await serviceOf(call, api, hasService ? words[0] : null)
    const path = pathTo('services', target)
    const query = { environment: target.environment }
    const fields = await fieldsOf(api, 'PATCH', `/api/v1${path}`)
    const body = readFields(pairs, fields)
    const before = await api.get<Service>(path, query)
    return { before, after: await api.send<Service>('PATCH', path, body, { query }) }
  })
  call.out.done(`${qualifiedName(after)} is changed: ${fieldNames(pairs)}`, after)
  const isForLater = after.settings_updated_at !== before.settings_updated_at
  if (isForLater && after.live_deploy_id !== null)
    call.out.note(`Takes effect with the next deploy: deployer deploy --service ${qualifiedName(after)}`)
}

function fieldNames(pairs: readonly string[]): string {
  return pairs.map((pair) => pair.slice(0, pair.indexOf('='))).join(', ')
}

/** Deletes a service, once it is confirmed. */
export async function remove(call: Call): Promise<void> {
  const name = await withApi(call, async (api) => {
    const target = await serviceOf(call, api)
    const path = pathTo('services', target)
    const query = { environment: target.environment }
    const { name, environment } = await api.get<Service>(path, query)
    await confirm(
      call,
      `Delete the service ${name} in ${environment} with its containers, deploys and variables?`,
    )
    await api.send('DELETE', path, undefined, { query: { ...query, force: call.has('force') || null } })
    return qualifiedName({ name, environment })
  })
  call.out.done(`${name} is deleted`)
}
