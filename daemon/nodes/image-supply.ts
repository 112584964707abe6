import { IMAGES_PORT } from '#agent/protocol.ts'
import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import type { Entrance } from './entrance.ts'
import { nameOfNode } from './presence.ts'
import type { Registry } from './registry.ts'

/** An image of the own engine, and for whom a node needs it. */
interface Wanted {
  imageId: string
  /** The id of the service or datastore, which names the repository. */
  ownerId: string
  signal: AbortSignal | undefined
}

/** Makes sure that a node's engine has an image: from the registry, through the node's agent. Throws `runtime_error`. */
export async function supplyImage(
  { nodeId, engine: { images } }: { nodeId: string; engine: Engine },
  { registry, entrance }: { registry: Registry; entrance: Entrance },
  { imageId, ownerId, signal }: Wanted,
): Promise<void> {
  if (await images.inspect(imageId)) return
  const digest = await registry.provide(ownerId, imageId, signal)
  await entrance.during(nodeId, ownerId, () =>
    images.pull(`127.0.0.1:${IMAGES_PORT}/${ownerId}@${digest}`, {
      registryAuth: async () => null,
      signal: signal ?? useContext().stopping,
      onLine: () => {},
    }),
  )
  if (await images.inspect(imageId)) return
  throw new AppError(
    'runtime_error',
    `the engine of ${nameOfNode(nodeId)} gives images other ids than that of the server: let both store images in the same way (docker info, "Storage Driver")`,
  )
}
