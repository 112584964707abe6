import { rm } from 'node:fs/promises'
import { newId } from '../ids.ts'
import { findService } from '../services/operations.ts'
import type { ServiceRow } from '../services/store.ts'
import { archivePath } from './folders.ts'
import { assertUploadable, queueUpload } from './operations.ts'
import type { DeployRow } from './store.ts'

/**
 * Queues the deploy of a `.tar.gz` that `store` writes to a path, or fails to and leaves nothing. Throws what
 * `assertUploadable` and `store` throw.
 */
export async function deployArchive(
  service: ServiceRow,
  store: (path: string) => Promise<void>,
  clearCache: boolean,
): Promise<DeployRow> {
  assertUploadable(service)
  const id = newId('deploy')
  await store(archivePath(id))
  try {
    return queueUpload(findService(service.id), id, clearCache)
  } catch (error) {
    // The service may have been deleted, suspended or given another source meanwhile.
    await rm(archivePath(id), { force: true })
    throw error
  }
}
