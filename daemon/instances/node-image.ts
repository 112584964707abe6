import { useContext } from '#server/context.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { judgeRegistry } from '#server/images/registry.ts'
import { logger } from '#server/log.ts'
import { withinBuildTimeout } from '../builds/time-limit.ts'
import { nameOfNode } from '../nodes/presence.ts'
import type { World } from '../world.ts'

const log = logger('nodes')

/**
 * Makes sure that another node has the image of a deploy. One that was pulled comes from where it was pulled, so that the
 * server need not send it, and else from the server, as does one that was built. Throws `runtime_error`.
 */
export async function provideImage(
  world: World,
  nodeId: string,
  { service_id, image_digest }: DeployRow,
  imageId: string,
  signal: AbortSignal = useContext().stopping,
): Promise<void> {
  const { images } = world.engineOf(nodeId)
  if (await images.inspect(imageId)) return
  if (image_digest !== null) {
    try {
      await judgeRegistry(image_digest, signal)
      await withinBuildTimeout('pulling it', signal, (limited) =>
        // Credentials do not leave the server: an image that needs some comes from there.
        images.pull(image_digest, { registryAuth: async () => null, signal: limited, onLine: () => {} }),
      )
    } catch (error) {
      signal.throwIfAborted()
      const node = nameOfNode(nodeId)
      log.info('a node gets an image from the server', {
        node,
        image: image_digest,
        reason: messageOf(error),
      })
    }
  }
  // Asks again whether it is there.
  await world.machines.provideImage(nodeId, imageId, service_id, signal)
}
