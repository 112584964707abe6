import { useDatabase } from '../context.ts'
import type { LogLine } from '../log-lines.ts'
import { linesIn } from './filter.ts'
import { ForwardReader } from './forward.ts'
import type { ServiceLog } from './store.ts'
import { countLine, type LineCounts } from './system-lines.ts'

/**
 * How far the output of a container is stored: of the engine's log, from the line with this time on (from its beginning
 * for null), the first so many lines of each stream stand before a line of the service's log, by its number.
 */
export interface StoredPlace extends LineCounts {
  /** The engine's id: another container of the same name begins anew. */
  container: string
  time: string | null
  line: number
}

/** Read at once to count what follows a place. */
const BATCH_LINES = 10_000
const BATCH_BYTES = 1024 * 1024

/** Keeps a place; to be called once all that stands before its line is stored. */
export function savePlace(instance: string, { container, time, stdout, stderr, line }: StoredPlace): void {
  useDatabase().run(
    'REPLACE INTO log_places (instance, container, time, stdout, stderr, line) VALUES (?, ?, ?, ?, ?, ?)',
    instance,
    container,
    time,
    stdout,
    stderr,
    line,
  )
}

/** The place of an instance or a datastore; null when none was kept. */
export function getPlace(instance: string): StoredPlace | null {
  const row = useDatabase().get<StoredPlace>(
    'SELECT container, time, stdout, stderr, line FROM log_places WHERE instance = ?',
    instance,
  )
  return row ?? null
}

/** Forgets the places of those that are gone. */
export function tidyPlaces(): void {
  useDatabase().run(
    `DELETE FROM log_places
     WHERE instance NOT IN (SELECT id FROM instances) AND instance NOT IN (SELECT id FROM datastores)`,
  )
}

/**
 * The lines of an instance that the store has from one on, and those that it says were lost: what was written after the
 * place was kept is known by that, whenever a kill came. Null when not all that follows is there any more.
 */
export async function countStored(
  log: ServiceLog,
  instance: string,
  line: number,
): Promise<LineCounts | null> {
  const slices = await log.stored()
  const end = await log.end()
  if (line > end) return null
  const counts = { stdout: 0, stderr: 0 }
  const reader = new ForwardReader()
  for (let at = line; at < end;) {
    const batch = await reader.next(slices, at, BATCH_LINES, BATCH_BYTES)
    if (batch?.first !== at) return null
    for (const text of linesIn(batch.text.toString('utf8'))) {
      if (!text.endsWith(`"instance":${JSON.stringify(instance)}}`)) continue
      countLine(JSON.parse(text) as LogLine, counts)
    }
    at += batch.count
  }
  return counts
}
