import { lineMatcher, linesIn } from '#server/logs/filter.ts'
import type { LogLine } from '#server/log-lines.ts'
import { countStored, getPlace } from '#server/logs/places.ts'
import type { ServiceLog } from '#server/logs/store.ts'
import { Allowance, readTail } from '#server/logs/tail.ts'
import { engineMoment, KNOWN_LINES, KnownLines } from './known.ts'
import { Place } from './place.ts'

/** The longest lines, as JSON. */
const KNOWN_BYTES = KNOWN_LINES * 128 * 1024

/** Where the output of an instance is read on: after what the store has of it. A new one is read from its beginning. */
export async function placeOf(log: ServiceLog, instance: string, isNew: boolean): Promise<Place> {
  if (isNew) return new Place()
  const known = await knownOf(log, instance)
  const kept = getPlace(instance)
  const more = kept && (await countStored(log, instance, kept.line))
  if (!more) return new Place(kept?.container ?? null, null, known)
  const { container, time, stdout, stderr } = kept
  return new Place(container, { time, stdout: stdout + more.stdout, stderr: stderr + more.stderr }, known)
}

/**
 * The last lines that the store has of an instance. Where the beginning of the log was removed and nothing of it is left,
 * everything is known up to the newest line of the others.
 */
async function knownOf(log: ServiceLog, instance: string): Promise<KnownLines> {
  const slices = await log.stored()
  const filter = { since: null, until: null, stream: null, search: null }
  const isWhole = slices.length === 0 || slices[0]!.first === 0
  const newest = isWhole
    ? undefined
    : parse((await readTail(slices, null, 1, new Allowance(KNOWN_BYTES))).blocks)[0]
  const known = new KnownLines(newest ? engineMoment(Date.parse(newest.ts)) : null)
  for (const stream of ['stdout', 'stderr'] as const) {
    const matcher = lineMatcher({ ...filter, stream, instances: [instance] })
    const { blocks } = await readTail(slices, matcher, KNOWN_LINES, new Allowance(KNOWN_BYTES))
    known.add(parse(blocks).map(({ ts, line }) => ({ ts, stream, line })))
  }
  return known
}

function parse(blocks: readonly Buffer[]): LogLine[] {
  return linesIn(Buffer.concat(blocks).toString('utf8')).map((line) => JSON.parse(line) as LogLine)
}
