import { useDatabase } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import type { NodeEngine } from '../nodes/engines.ts'
import { answerOf, nameOfNode } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { namesInUse } from './images.ts'
import type { Surplus } from './surplus.ts'

const log = logger('cleanup')

/**
 * The images that other nodes got and that nothing keeps any more: each deploy and datastore names its image by its id, which is
 * the same on every node, and what is being pulled for one is known by its name. A node that needs one again gets it again.
 */
export function surplusImagesOfNodes(world: World): Surplus[] {
  const own = ownNodeId()
  const others = world.engines().filter(({ nodeId }) => nodeId !== own)
  return others.flatMap((node) => surplusNamesOn(node).map((name) => surplusImage(node, name)))
}

function surplusNamesOn({ nodeId, engine }: NodeEngine): string[] {
  const needed = neededImages()
  const isNeeded = (name: string): boolean =>
    needed.has(ledgerOn(nodeId).find('image', name)?.engine_id ?? '')
  return engine.images.pulled({ except: namesInUse() }).filter((name) => !isNeeded(name))
}

function surplusImage(node: NodeEngine, name: string): Surplus {
  const { nodeId, engine } = node
  return {
    kind: 'images',
    id: name,
    name: `${name} on ${nameOfNode(nodeId)}`,
    bytes: async () => (await answerOf(nodeId, engine.images.inspect(name)))?.sizeBytes ?? 0,
    async remove() {
      if (!surplusNamesOn(node).includes(name)) return false
      try {
        await answerOf(nodeId, engine.images.remove(name))
        return true
      } catch (error) {
        // A container still uses it, or the node went away; the next pass tries again.
        log.debug('an image cannot be removed yet', { tag: name, error: messageOf(error) })
        return false
      }
    },
  }
}

function neededImages(): Set<string> {
  const rows = useDatabase().all<{ image_id: string }>(
    `SELECT image_id FROM deploys WHERE image_id IS NOT NULL
     UNION SELECT image_id FROM datastores WHERE image_id IS NOT NULL`,
  )
  return new Set(rows.map(({ image_id }) => image_id))
}
