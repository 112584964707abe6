import type { Change } from '#server/changes.ts'
import type { Call } from '../../call.ts'
import type { Output } from '../../output.ts'
import { acrossCuts } from '../follow/cuts.ts'
import { withApi } from '../with-api.ts'

/** What changed while the connection was away is not known. */
const RESYNC = { kind: 'all', action: 'resync' } as const

/** Prints every change until it is ended. */
export async function events(call: Call): Promise<void> {
  const { out } = call
  await withApi(call, (api) =>
    acrossCuts(
      { out, what: 'the list of changes', again: 'events' },
      async ({ options, isAgain, progressed }) => {
        await api.events('/events', {}, options, {
          take(event, data) {
            if (event === 'ready' && isAgain) print(out, RESYNC)
            if (event !== 'change') return
            progressed()
            print(out, data as Change)
          },
          flush: () => out.room(),
        })
      },
    ),
  )
}

function print(out: Output, change: Pick<Change, 'kind' | 'action'> & Partial<Change>): void {
  if (out.isJson) return out.jsonLine(change)
  const { kind, id = '', service_id, action } = change
  if (!out.isTerminal) return out.line([kind, action, id, service_id ?? ''].join('\t'))
  const of = service_id && service_id !== id ? out.color('dim', `of ${service_id}`) : ''
  out.line([kind.padEnd(14), action.padEnd(8), id, of].join(' ').trimEnd())
}
