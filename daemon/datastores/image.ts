import { recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'

/**
 * Returns the image for a datastore's container: the one that it was first created from as long as the engine has it, since
 * a tag may move to another image. Throws `runtime_error` that names the image.
 */
export async function imageOf(engine: Engine, row: DatastoreRow, signal: AbortSignal): Promise<string> {
  if (row.image_id !== null && (await engine.images.inspect(row.image_id)) !== null) return row.image_id
  const reference = `${row.repository}:${row.version}`
  const id = await pullImage(engine, reference, signal)
  recordDatastore(row.id, { image_id: id })
  return id
}

/** Returns the id of an image, and pulls it if the engine does not have it. Throws `runtime_error` that names it. */
export async function pullImage(engine: Engine, reference: string, signal: AbortSignal): Promise<string> {
  return ((await engine.images.inspect(reference)) ?? (await pull(engine, reference, signal))).id
}

async function pull(engine: Engine, reference: string, signal: AbortSignal): Promise<{ id: string }> {
  try {
    return await engine.images.pull(reference, { signal, onLine: () => {} })
  } catch (cause) {
    signal.throwIfAborted()
    throw new AppError('runtime_error', `the image ${reference} cannot be pulled: ${messageOf(cause)}`, {
      cause,
    })
  }
}
