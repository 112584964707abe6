import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { schedule } from '#server/options/schedule.ts'
import { followEngine, type Followers } from './engine-events.ts'
import type { NodeEngine } from './nodes/engines.ts'
import { nameOfNode } from './nodes/presence.ts'
import type { Task } from './work/driver.ts'
import type { World } from './world.ts'

const log = logger('nodes')

/** Listens to the events of the engines of other nodes, as those come and go. */
export function nodeEvents(world: World, followers: Followers): Task {
  const listening = new Map<string, AbortController>()
  /** What was told of nodes whose engines have not answered since. */
  const told = new Map<string, string>()

  async function listen(node: NodeEngine, signal: AbortSignal): Promise<void> {
    const answering = { ...followers, wakeOthers: () => (told.delete(node.nodeId), followers.wakeOthers()) }
    try {
      await followEngine(node, answering, signal)
    } catch (error) {
      const message = messageOf(error)
      if (signal.aborted || told.get(node.nodeId) === message) return
      told.set(node.nodeId, message)
      log.warn('the engine of a node does not answer; trying again', {
        node: nameOfNode(node.nodeId),
        error: message,
      })
    } finally {
      listening.delete(node.nodeId)
      world.departuresOfOthers.set(node.nodeId, (world.departuresOfOthers.get(node.nodeId) ?? 0) + 1)
    }
  }

  return {
    name: 'events of nodes',
    everyMs: schedule.engineRetryMs,
    async run(signal) {
      const own = ownNodeId()
      const others = new Map(
        world.engines().flatMap((node) => (node.nodeId === own ? [] : [[node.nodeId, node] as const])),
      )
      for (const [nodeId, stop] of listening) if (!others.has(nodeId)) stop.abort()
      for (const [nodeId, node] of others) {
        if (listening.has(nodeId)) continue
        const stop = new AbortController()
        listening.set(nodeId, stop)
        void listen(node, AbortSignal.any([signal, stop.signal]))
      }
    },
  }
}
