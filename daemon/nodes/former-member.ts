import { useDatabase } from '#server/context.ts'
import { readSetting, removeSetting, writeSetting } from '#server/database/settings.ts'
import { logger } from '#server/log.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { Swarm } from '../engine/swarm.ts'

const log = logger('nodes')

/** Swarm's id of the machine from which the server moved here, until that is out of the swarm. */
const KEY = 'former_swarm_node'

/** Records the machine from which the server moves, so that it is taken out of the swarm. */
export function noteFormerMember(swarmId: string): void {
  writeSetting(useDatabase(), KEY, swarmId)
}

/** Takes the machine from which the server moved out of the swarm, if it is still in it. Throws `runtime_error`. */
export async function removeFormerMember(
  swarm: Pick<Swarm, 'setManager' | 'removeNode'>,
  members: readonly SwarmNode[],
): Promise<void> {
  const id = readSetting(useDatabase(), KEY)
  if (id === undefined) return
  const former = members.find((member) => member.id === id)
  if (former?.isManager) await swarm.setManager(id, false)
  // It is not removed before it is a worker, which takes a moment.
  if (former && (former.isManager || former.managerState !== null)) return
  if (former) await swarm.removeNode(id)
  removeSetting(useDatabase(), KEY)
  if (former) log.info('the former machine of the server is out of the swarm', { address: former.address })
}

/** Whether a member is the machine from which the server moved. */
export function isFormerMember(swarmId: string): boolean {
  return readSetting(useDatabase(), KEY) === swarmId
}
