import type { Environment } from '#server/environments/schema.ts'
import type { Call } from '../../call.ts'
import { confirm } from '../ask.ts'
import { printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { pathTo } from '../target.ts'
import { withApi } from '../with-api.ts'

const PATH = '/environments'

/** Lists the environments. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const environments = await withApi(call, (api) => api.get<Environment[]>(PATH))
  printList(out, environments, {
    columns: [
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'services', text: ({ services }) => String(services.length) },
      { title: 'datastores', text: ({ datastores }) => String(datastores.length) },
      { title: 'urls', text: ({ url_pattern }) => url_pattern },
      { title: 'created', text: ({ created_at }) => timeText(out, created_at) },
    ],
    name: ({ name }) => name,
    emptyNote: 'There are no environments. deployer environments create <name> creates one.',
  })
}

/** Creates an environment, and tells the DNS records that it needs. */
export async function create(call: Call): Promise<void> {
  const { out, words } = call
  const environment = await withApi(call, (api) => api.send<Environment>('POST', PATH, { name: words[0] }))
  out.done(`${environment.name} is created; its services answer at ${environment.url_pattern}`, environment)
  for (const { records } of environment.dns)
    for (const { name, type, value } of records) out.note(`DNS: ${name} ${type} ${value}`)
}

/** Deletes an empty environment, once it is confirmed. */
export async function remove(call: Call): Promise<void> {
  const name = await withApi(call, async (api) => {
    const path = pathTo('environments', { name: call.words[0]! })
    const { name } = await api.get<Environment>(path)
    await confirm(call, `Delete the environment ${name}?`)
    await api.send('DELETE', path)
    return name
  })
  call.out.done(`${name} is deleted`)
}
