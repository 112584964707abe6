import { setTimeout as delay } from 'node:timers/promises'
import { useContext } from '#server/context.ts'
import type { Snapshot } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import { candidatesFor } from '#server/nodes/candidates.ts'
import { placementOf } from '#server/nodes/placement-setting.ts'
import { chooseNode, type Candidate } from '#server/nodes/placement.ts'
import { getNode, hasOtherNodes, ownNodeId } from '#server/nodes/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { answers } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { addInstance } from './containers.ts'

/** How long a rollout waits for a node that takes its next instance. */
const PLACED_WITHIN_MS = 5 * 60_000
const LOOK_MS = 1_000

type Place = { nodeId: string } | { fault: string }

/** The id of the node for one more instance of a deploy, or why there is none. A disk keeps to its node. */
export async function placeFor(
  world: World,
  service: ServiceRow,
  deployId: string,
  snapshot: Snapshot,
): Promise<Place> {
  return placeNow(world, service, deployId, snapshot, await architectureOf(world, snapshot))
}

/** What the image of a deploy is built for, where that decides between nodes; null for any. */
async function architectureOf({ engine }: World, { disks, image_id }: Snapshot): Promise<string | null> {
  if (disks.length > 0 || !hasOtherNodes()) return null
  return (await engine.images.inspect(image_id))?.architecture ?? null
}

function placeNow(
  world: World,
  service: ServiceRow,
  deployId: string,
  snapshot: Snapshot,
  architecture: string | null,
): Place {
  if (snapshot.disks.length > 0) return placeOfDisks(world, service)
  if (!hasOtherNodes()) return { nodeId: ownNodeId() }
  const memoryMb = snapshot.memory_limit_mb || useContext().options.defaultMemoryMb
  const asked = { memoryMb, architecture }
  const candidates = candidatesFor(deployId).map((candidate) => {
    const { node } = candidate
    return { ...candidate, node: { ...node, status: statusNow(world, node) } }
  })
  const chosen = chooseNode(placementOf(service), asked, candidates)
  return 'fault' in chosen ? chosen : { nodeId: chosen.id }
}

/** The status of a node; the one that is recorded is older than the way to it after a start of the server. */
function statusNow(world: World, { id, status }: Candidate['node']): Candidate['node']['status'] {
  return status === 'ready' && !answers(world, id) ? 'unreachable' : status
}

function placeOfDisks(world: World, { name, node_id }: ServiceRow): Place {
  const nodeId = node_id ?? ownNodeId()
  if (answers(world, nodeId)) return { nodeId }
  const node = getNode(nodeId)
  const state = node
    ? `${node.name}, which is ${statusNow(world, node)}`
    : `${nodeId}, which is not a node of this server any more`
  return { fault: `the disk of ${name} is on ${state}: wait until it is back, or move the service` }
}

/**
 * Records one more instance of a deploy, for a rollout, and returns its id: waits for a place, and says so. `prepare` provides
 * what it needs on a node, such as its image, which takes a while: another rollout may take the room in the meantime, or the
 * node be drained, so that the place is judged again just before. Throws `runtime_error` if there is no place in time.
 */
export async function addPlaced(
  world: World,
  service: ServiceRow,
  deployId: string,
  snapshot: Snapshot,
  prepare: (nodeId: string) => Promise<unknown>,
  say: (what: string) => void,
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    const nodeId = await awaitPlace(world, service, deployId, snapshot, say, signal)
    await prepare(nodeId)
    const architecture = await architectureOf(world, snapshot)
    // No wait from here to the record.
    const place = placeNow(world, service, deployId, snapshot, architecture)
    if ('nodeId' in place && place.nodeId === nodeId) return addInstance(service, deployId, nodeId)
  }
}

/** The id of the node for one more instance: waits for a place, and says so. Throws `runtime_error` if there is none in time. */
export async function awaitPlace(
  world: World,
  service: ServiceRow,
  deployId: string,
  snapshot: Snapshot,
  say: (what: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const began = performance.now()
  for (let told = ''; ; await delay(LOOK_MS, undefined, { signal })) {
    const place = await placeFor(world, service, deployId, snapshot)
    if ('nodeId' in place) return place.nodeId
    if (performance.now() - began > PLACED_WITHIN_MS) throw new AppError('runtime_error', place.fault)
    if (place.fault !== told) say(`waiting, ${PLACED_WITHIN_MS / 60_000} min at most: ${place.fault}`)
    told = place.fault
  }
}
