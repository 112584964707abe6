import { useContext, useDatabase } from '#server/context.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import { nodeName, ownNodeId } from '#server/nodes/store.ts'
import type { NodeEngine } from '../nodes/engines.ts'

const log = logger('restore')

/**
 * Takes over datastores that run on another node than the restored records say, since they were moved after the backup: their
 * newest data is there, and beside it no second copy may start. Throws `runtime_error`.
 */
export async function adoptMoved(engines: readonly NodeEngine[]): Promise<void> {
  for (const { nodeId, engine } of engines) {
    if (nodeId === ownNodeId()) continue
    for (const { state, isRecorded } of await engine.containers.running()) {
      const id = state.labels['deployer.kind'] === 'datastore' ? state.name : ''
      if (isRecorded || getDatastore(id) === undefined) continue
      const volume = await volumeOf(engine, id)
      if (volume === null) continue
      useDatabase().transaction(() => {
        ledgerOn(nodeId).record('container', id)
        ledgerOn(nodeId).record('volume', volume)
        useDatabase().run(
          'UPDATE datastores SET node_id = ?, volume = ?, image_id = ? WHERE id = ?',
          ...[nodeId, volume, state.image, id],
        )
      })
      log.info('a datastore was moved after the backup', { datastore: id, node: nodeName(nodeId) })
    }
  }
}

/** The volume that a datastore's container uses, which the restored records do not know; null if there is none. */
async function volumeOf(engine: NodeEngine['engine'], container: string): Promise<string | null> {
  for (const { kind, name } of await engine.strays(useContext().stopping)) {
    if (kind !== 'volume') continue
    const users = await engine.containers.runningUsers(name)
    if (users.some((user) => user.name === container)) return name
  }
  return null
}
