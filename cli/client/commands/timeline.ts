import type { ServiceEvent } from '#server/service-events/schema.ts'
import type { Call } from '../../call.ts'
import { printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { pathTo, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'
import { limitOf } from './deploys.ts'

/** Lists what happened to a service, newest first. */
export async function timeline(call: Call): Promise<void> {
  const { out } = call
  const limit = limitOf(call)
  const events = await withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    return api.get<ServiceEvent[]>(pathTo('services', service, '/events'), {
      environment: service.environment,
      limit,
      type: call.text('type'),
    })
  })
  printList(out, events, {
    columns: [
      { title: 'when', text: ({ at }) => timeText(out, at) },
      { title: 'type', text: ({ type }) => type, isWhole: true },
      { title: 'what', text: whatOf },
      { title: 'by', text: ({ actor }) => actor?.name ?? actor?.kind ?? '' },
    ],
    name: ({ id }) => id,
    emptyNote: 'Nothing has happened to it yet.',
  })
}

function whatOf({ message, count }: ServiceEvent): string {
  return count === 1 ? message : `${message} (${count} times)`
}
