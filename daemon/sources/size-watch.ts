import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BuildFailure } from '../builds/failure.ts'

/** What a checkout may take of the disk, git's own files included: the disk is shared with running services. */
const MAX_CHECKOUT_BYTES = 2 * 1024 ** 3
/** Each file costs an inode; larger repositories than this do not exist in public. */
export const MAX_CHECKOUT_FILES = 500_000
/** How often is looked; a slow look waits longer, so that looking never takes more than a tenth of the time. */
const PERIOD_MS = 1_000
const REST_FACTOR = 9

/** The fault of a repository that is too large. */
export function tooLarge(): BuildFailure {
  return new BuildFailure(
    `the repository takes more than ${MAX_CHECKOUT_BYTES / 1024 ** 3} GiB or ${MAX_CHECKOUT_FILES} files: deploy a smaller one, or upload an archive without what the build does not need`,
  )
}

/** Whether a tree of that many bytes and files is too large to be laid out. */
export function isTooLarge(bytes: number, files: number): boolean {
  return bytes > MAX_CHECKOUT_BYTES || files > MAX_CHECKOUT_FILES
}

/** Watches what a directory takes of the disk until `signal` aborts; calls `onTooLarge` once when it passes the limit. */
export async function watchSize(
  directory: string,
  signal: AbortSignal,
  onTooLarge: (fault: BuildFailure) => void,
): Promise<void> {
  let restMs = PERIOD_MS
  while (!signal.aborted) {
    await delay(restMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    const started = performance.now()
    const use = { bytes: 0, files: 0 }
    await add(directory, use)
    if (isTooLarge(use.bytes, use.files)) return onTooLarge(tooLarge())
    restMs = Math.max(PERIOD_MS, (performance.now() - started) * REST_FACTOR)
  }
}

async function add(directory: string, use: { bytes: number; files: number }): Promise<void> {
  // Files come and go while git works.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (isTooLarge(use.bytes, use.files)) return
    use.files += 1
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await add(path, use)
    else use.bytes += (await lstat(path).catch(() => null))?.size ?? 0
  }
}
