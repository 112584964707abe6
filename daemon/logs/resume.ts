import { lineMatcher, linesBesidesAccess, linesIn } from '#server/logs/filter.ts'
import { ForwardReader } from '#server/logs/forward.ts'
import type { LogLine } from '#server/logs/lines.ts'
import type { Slice } from '#server/logs/parts.ts'
import type { ServiceLog } from '#server/logs/store.ts'
import { Allowance, readTail } from '#server/logs/tail.ts'
import { engineMoment, KNOWN_LINES, KnownLines } from './known.ts'

/** Bytes of JSON that are read; more than `KnownLines` keeps. */
const KNOWN_BYTES = 2 * 1024 * 1024

/**
 * Returns the lines that the store has of an instance, after which its output is read. If the beginning of the log was
 * removed and has none of its lines left, everything counts as known up to the newest line of the other instances.
 */
export async function knownOf(log: ServiceLog, instance: string, isNew: boolean): Promise<KnownLines> {
  if (isNew) return new KnownLines()
  const slices = await log.stored()
  const filter = { since: null, until: null, stream: null, levels: null, search: null }
  const isWhole = slices.length === 0 || slices[0]!.first === 0
  const newest = isWhole ? undefined : await newestPrinted(slices)
  const known = new KnownLines(newest ? engineMoment(Date.parse(newest.ts)) : null)
  for (const stream of ['stdout', 'stderr'] as const) {
    const matcher = lineMatcher({ ...filter, stream, instances: [instance] })
    const { blocks } = await readTail(slices, matcher, KNOWN_LINES, new Allowance(KNOWN_BYTES))
    known.add(parse(blocks).map(({ ts, line }) => ({ ts, stream, line })))
  }
  return known
}

/**
 * The newest line besides those of requests, which may be newer than output that is not stored yet. If there are no others,
 * the oldest line, before which all output was stored.
 */
async function newestPrinted(slices: readonly Slice[]): Promise<LogLine | undefined> {
  const { blocks } = await readTail(slices, linesBesidesAccess, 1, new Allowance(KNOWN_BYTES))
  if (blocks.length > 0) return parse(blocks)[0]
  const oldest = await new ForwardReader().next(slices, slices[0]!.first, 1, KNOWN_BYTES)
  return oldest ? parse([oldest.text])[0] : undefined
}

function parse(blocks: readonly Buffer[]): LogLine[] {
  return linesIn(Buffer.concat(blocks).toString('utf8')).map((line) => JSON.parse(line) as LogLine)
}
