import type { Datastore } from '#server/datastores/schema.ts'
import type { Move } from '#server/moves/schema.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { confirm } from '../ask.ts'
import { settled } from '../settled.ts'
import { pathTo, qualifiedName, targetOf } from '../target.ts'
import { withApi } from '../with-api.ts'

type Resource = 'datastores' | 'services'
type Moved = Pick<Datastore | Service, 'id' | 'name' | 'environment' | 'move'>

/** Moves a datastore to another node, and waits until it runs there. */
export function moveDatastore(call: Call): Promise<void> {
  return move(call, 'datastores')
}

/** Moves a service with its disks to another node, and waits until they are there. */
export function moveService(call: Call): Promise<void> {
  return move(call, 'services')
}

async function move(call: Call, resource: Resource): Promise<void> {
  const [, node] = call.words
  const isCancel = call.has('cancel')
  if (isCancel === (node !== undefined)) throw wrong('name the node that it goes to, or give --cancel')
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const query = { environment: target.environment }
    const path = pathTo(resource, target, '/move')
    if (isCancel) {
      const kept = await api.send<Moved>('POST', `${path}/cancel`, undefined, { query })
      return call.out.done(`${qualifiedName(kept)} stays where it was`, kept)
    }
    const from_backup = call.has('from-backup')
    if (from_backup)
      await confirm(
        call,
        `Restore the newest backup of ${qualifiedName(target)} on ${node}, without what was written since?`,
      )
    const begun = await api.send<Moved>('POST', path, { node, from_backup }, { query })
    const moved = await settled(
      () => api.get<Moved>(pathTo(resource, { name: begun.id })),
      (now) => now.move?.status !== 'running' || call.has('detach'),
    )
    call.out.done(whatHappened(qualifiedName(moved), moved.move), moved)
  })
}

/** Says how a move went. Throws Fault if it did not succeed. */
function whatHappened(name: string, move: Move | null): string {
  const to = move?.to_node_name ?? 'the other node'
  if (move?.status === 'failed') throw new Fault(EXIT.failed, `${name} was not moved: ${move.error}`)
  if (move?.status === 'canceled') throw new Fault(EXIT.failed, `the move of ${name} was canceled`)
  return move?.status === 'running' ? `${name} is being moved to ${to}` : `${name} is on ${to} now`
}
