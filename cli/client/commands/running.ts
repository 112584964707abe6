import type { Service, ServiceStatus } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import type { Api } from '../api.ts'
import { printList } from '../columns.ts'
import { sizeText, timeText } from '../figures.ts'
import { pathTo, serviceOf, type Target } from '../target.ts'
import { withApi } from '../with-api.ts'

/** Stops a service and keeps its settings. */
export async function suspend(call: Call): Promise<void> {
  const service = await withApi(call, async (api) => act(api, await serviceOf(call, api), 'suspend'))
  call.out.done(`${service.name} is suspended`, service)
}

/** Starts a suspended service again. */
export async function resume(call: Call): Promise<void> {
  const service = await withApi(call, async (api) => act(api, await serviceOf(call, api), 'resume'))
  call.out.done(`${service.name} is resumed`, service)
}

/** Sets how many instances of a service run. */
export async function scale(call: Call): Promise<void> {
  const [count, word] = call.words.toReversed() as [string, string | undefined]
  if (!/^\d{1,6}$/.test(count)) throw wrong('the number of instances must be a whole number, 0 or more')
  const service = await withApi(call, async (api) =>
    act(api, await serviceOf(call, api, word ?? null), 'scale', { instances: Number(count) }),
  )
  const { name, instances } = service
  call.out.done(`${name} has ${instances} ${instances === 1 ? 'instance' : 'instances'}`, service)
}

function act(api: Api, service: Target, action: string, body?: object): Promise<Service> {
  const query = { environment: service.environment }
  return api.send<Service>('POST', pathTo('services', service, `/${action}`), body, { query })
}

/** Lists the instances of a service. */
export async function ps(call: Call): Promise<void> {
  const { out } = call
  const status = await withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    const query = { environment: service.environment }
    return api.get<ServiceStatus>(pathTo('services', service, '/status'), query)
  })
  if (out.isJson) return out.json(status)
  printList(out, status.instances, {
    columns: [
      { title: 'instance', text: ({ name }) => name, isWhole: true },
      { title: 'state', text: ({ state }) => state },
      { title: 'health', text: ({ health }) => health },
      { title: 'cpu', text: ({ cpu_percent }) => percentText(cpu_percent) },
      {
        title: 'memory',
        text: ({ memory_bytes }) =>
          memory_bytes === null ? '' : out.isTerminal ? sizeText(memory_bytes) : String(memory_bytes),
      },
      { title: 'restarts', text: ({ restarts }) => String(restarts) },
      { title: 'since', text: ({ started_at }) => timeText(out, started_at) },
      { title: 'why', text: ({ reason }) => reason ?? '' },
    ],
    name: ({ name }) => name,
    emptyNote: `No instance runs: the service is ${status.state.replace('_', ' ')}.`,
  })
}

function percentText(percent: number | null): string {
  return percent === null ? '' : `${percent.toFixed(1)}%`
}
