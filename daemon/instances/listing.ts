import { messageOf } from '#server/errors.ts'
import { getInstance } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import type { ContainerState } from '../engine/index.ts'
import type { NodeEngine } from '../nodes/engines.ts'
import { answerOf, nameOfNode } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import type { Containers } from './out-of-step.ts'

const log = logger('instances')

/** The containers of instances, as far as the nodes have answered. */
export interface Listing {
  containers: Containers
  /** The ids of the nodes that have answered. */
  listed: Set<string>
  /** Those that no instance of their node has: their removal was cut off, or they were replaced while their node was away. */
  strays: (NodeEngine & { name: string })[]
}

/** Lists the containers of instances, with one request a node. Throws `runtime_error` if the own engine does not answer. */
export async function listInstances(world: World): Promise<Listing> {
  const own = ownNodeId()
  const answers = await Promise.all(
    world.engines().map(async (node) => ({ ...node, states: await statesOn(node, node.nodeId === own) })),
  )
  const found = answers.flatMap(({ states, ...node }) =>
    (states ?? []).map((state) => ({
      ...node,
      state,
      isKnown: getInstance(state.name)?.node_id === node.nodeId,
    })),
  )
  return {
    containers: new Map(found.filter(({ isKnown }) => isKnown).map(({ state }) => [state.name, state])),
    listed: new Set(answers.flatMap(({ nodeId, states }) => (states === null ? [] : [nodeId]))),
    strays: found
      .filter(({ isKnown }) => !isKnown)
      .map(({ nodeId, engine, state }) => ({ nodeId, engine, name: state.name })),
  }
}

/** Null if another node's engine does not answer. */
async function statesOn({ nodeId, engine }: NodeEngine, isOwn: boolean): Promise<ContainerState[] | null> {
  const states = engine.containers.list({ 'deployer.kind': 'instance' })
  if (isOwn) return await states
  return await answerOf(nodeId, states).catch((error: unknown) => {
    log.warn('the containers of a node are unknown', { node: nameOfNode(nodeId), error: messageOf(error) })
    return null
  })
}
