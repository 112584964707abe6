import { recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { registryAuthFor } from '../builds/registry-auth.ts'
import type { Engine } from '../engine/index.ts'
import type { World } from '../world.ts'
import { isElsewhere } from './home.ts'

/**
 * Returns the image for a datastore's container on its node: the one that it was first created from as long as the engine has
 * it, since a tag may move to another image. Another node pulls it from where it came from or, if that fails, gets that of the
 * server's own engine. Throws `runtime_error` that names the image.
 */
export async function imageOf(world: World, row: DatastoreRow, signal: AbortSignal): Promise<string> {
  const { image_id, node_id } = row
  const engine = world.engineOf(node_id)
  if (image_id !== null && (await engine.images.inspect(image_id)) !== null) return image_id
  const reference = `${row.repository}:${row.version}`
  const id = await pullImage(engine, reference, signal).catch(async (error: unknown) => {
    signal.throwIfAborted()
    const isHere = isElsewhere(row) && image_id !== null && (await world.engine.images.inspect(image_id))
    if (!isHere) throw error
    await world.machines.provideImage(node_id, image_id, row.id, signal)
    return image_id
  })
  recordDatastore(row.id, { image_id: id })
  return id
}

/** Returns the id of an image, and pulls it if the engine does not have it. Throws `runtime_error` that names it. */
export async function pullImage(engine: Engine, reference: string, signal: AbortSignal): Promise<string> {
  return ((await engine.images.inspect(reference)) ?? (await pull(engine, reference, signal))).id
}

async function pull(engine: Engine, reference: string, signal: AbortSignal): Promise<{ id: string }> {
  try {
    const registryAuth = registryAuthFor({ serviceId: null, images: [reference] })
    return await engine.images.pull(reference, { registryAuth, signal, onLine: () => {} })
  } catch (cause) {
    signal.throwIfAborted()
    throw new AppError('runtime_error', `the image ${reference} cannot be pulled: ${messageOf(cause)}`, {
      cause,
    })
  }
}
