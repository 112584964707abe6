import { instancesOf } from '#server/instances/store.ts'
import { isBound } from '#server/nodes/carried.ts'
import { allows, placementOf } from '#server/nodes/placement-setting.ts'
import { hasOtherNodes, listNodes, ownNodeId, type NodeRow } from '#server/nodes/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { answerOf, answers } from '../nodes/presence.ts'
import type { World } from '../world.ts'

/**
 * The id of the node for a run of a service's image: where its live instance is, else a ready one that has the image, else any
 * ready one on which the service may be, else the own one. On a node that is being drained none begins, since the drain would
 * wait for it, unless the service has its data there and waits itself.
 */
export async function placeOfRun(world: World, service: ServiceRow, imageId: string): Promise<string> {
  const own = ownNodeId()
  if (!hasOtherNodes()) return own
  const home = isBound(service.id) ? service.node_id : null
  const takesRuns = ({ id, availability }: NodeRow) =>
    (availability === 'active' || id === home) && answers(world, id)
  const able = listNodes().filter(takesRuns)
  const live = instancesOf(service.id).filter(
    ({ deploy_id, node_id }) => deploy_id === service.live_deploy_id && able.some(({ id }) => id === node_id),
  )
  const instance = live.find(({ status }) => status === 'ready') ?? live[0]
  if (instance) return instance.node_id
  const placement = placementOf(service)
  const fitting = able.filter((node) => node.id === home || allows(placement, node))
  for (const { id } of fitting) if (id === own || (await hasImage(world, id, imageId))) return id
  return fitting[0]?.id ?? own
}

async function hasImage(world: World, nodeId: string, imageId: string): Promise<boolean> {
  const { images } = world.engineOf(nodeId)
  return await answerOf(nodeId, images.inspect(imageId)).then(
    (found) => found !== null,
    () => false,
  )
}
