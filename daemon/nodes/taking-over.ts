import { announceNode } from '#server/changes.ts'
import { useContext, useDatabase } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { getNode, getNodeBySwarmId, otherManagersIn, ownNodeId, updateNode } from '#server/nodes/store.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { SwarmInfo } from '../engine/swarm-info.ts'
import { renewAuthority } from './authority.ts'
import { noteFormerMember } from './former-member.ts'
import { addressOfDefaultRoute } from './suitability.ts'

const log = logger('nodes')

/**
 * Takes the place of the machine from which the server was moved, as the member `nodeId` of its swarm: the server's own node is
 * the machine of this engine from now on. Agents get new certificates, so that a server on the former machine, should it come
 * back, reaches none. Throws `conflict` when the former machine still answers, and when this machine is another node.
 */
export function takeOver(nodeId: string, members: readonly SwarmNode[]): void {
  const own = getNode(ownNodeId())!
  const other = getNodeBySwarmId(nodeId)
  if (other && other.id !== own.id)
    throw new AppError(
      'conflict',
      `this machine is the node ${other.name}, and a server cannot be restored on one of its other nodes: restore it on a machine that is none`,
    )
  const former = members.find(({ id }) => id === own.swarm_id)
  if (former && former.state !== 'down')
    throw new AppError(
      'conflict',
      `${own.name} (${former.address}), from which the server comes, is ${former.state} in the swarm: end its engine, so that it does not run what is started here`,
    )
  const address = useContext().options.nodeAddress ?? addressOfDefaultRoute()
  if (address === null)
    throw new AppError(
      'conflict',
      'this host has no default route, so it is unknown where the nodes reach it: set --node-address',
    )
  useDatabase().transaction(() => {
    if (own.swarm_id !== null) noteFormerMember(own.swarm_id)
    updateNode(own.id, { swarm_id: nodeId, address, manager_state: 'reachable' })
    // They may have become managers after the backup.
    for (const { id, isManager } of members) {
      const row = getNodeBySwarmId(id)
      if (row && row.id !== own.id && id !== own.swarm_id)
        updateNode(row.id, { is_manager: Number(isManager) })
    }
    renewAuthority()
  })
  announceNode(own.id)
  log.info('the server has moved to another machine of its swarm', { address })
}

/**
 * Throws `conflict` for an engine that has joined the swarm of the server's nodes as a worker, by one of their managers: as a
 * manager it could take the former one's place.
 */
export function assertComesBack({ isManager: manages, managers }: SwarmInfo): void {
  if (manages) return
  const known = managers.map(getNodeBySwarmId).find((row) => row !== undefined)
  if (known)
    throw new AppError(
      'conflict',
      `this machine's engine has joined the swarm as a worker: run docker node promote for it on ${known.name}`,
    )
}

/**
 * Throws `conflict` while other managers are recorded, for an engine that is not in the swarm of the server's nodes: that may be
 * joined by one of them, and would be given up otherwise. It ends when there is to be one manager.
 */
export function assertNoneRemains(): void {
  const managers = otherManagersIn(useDatabase())
  if (managers.length === 0) return
  // What the backup says of it holds for the former machine; as one without a leader, it would refuse to have one manager.
  updateNode(ownNodeId(), { manager_state: null })
  const names = managers.join(' or ')
  throw new AppError(
    'conflict',
    `this machine's engine is not in the swarm of the nodes yet: run docker swarm join-token manager on ${names}, and here what that prints. If they are all lost, deployer node managers 1 goes on without: then the other nodes are down and have to join again`,
  )
}
