import { lstatSync, opendirSync, type Dir, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isTooLarge, type CheckoutUse } from './checkout-limits.ts'

/** The pause between two measurements; longer after a slow one, but short enough that a disk writes only a few gigabytes. */
const SHORTEST_REST_MS = 1_000
const LONGEST_REST_MS = 2_000
const REST_FACTOR = 9

/** A directory that is being filled, and what counts in addition to its content. */
export interface Filling {
  directory: string
  extra: CheckoutUse
}

/** Resolves when the directory is larger than a checkout may be. */
export async function untilTooLarge({ directory, extra }: Filling): Promise<null> {
  for (;;) {
    const started = performance.now()
    const use = { ...extra }
    add(directory, use)
    if (isTooLarge(use.bytes, use.files)) return null
    await delay(restAfter(performance.now() - started))
  }
}

/** How long to pause after a measurement that took `lookMs`. */
export function restAfter(lookMs: number): number {
  return Math.min(Math.max(SHORTEST_REST_MS, lookMs * REST_FACTOR), LONGEST_REST_MS)
}

function add(directory: string, use: { bytes: number; files: number }): void {
  const folders: string[] = []
  for (const entry of entriesOf(directory)) {
    if (isTooLarge(use.bytes, use.files)) return
    use.files += 1
    const path = join(directory, entry.name)
    if (entry.isDirectory()) folders.push(path)
    else use.bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  }
  // Only after the folder is closed: nested ones could exceed the limit of open files.
  for (const folder of folders) add(folder, use)
}

/** Reads entries one by one, since a folder may have any number. Files and folders come and go while git works. */
function* entriesOf(path: string): Generator<Dirent> {
  const folder = openDirectory(path)
  try {
    for (let entry = folder?.readSync(); entry; entry = folder!.readSync()) yield entry
  } finally {
    folder?.closeSync()
  }
}

function openDirectory(path: string): Dir | null {
  try {
    return opendirSync(path)
  } catch {
    return null
  }
}
