import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { array, assert, asyncProperty, integer, nat, property } from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { barsFor, countLines } from '#server/logs/histogram.ts'
import type { ServiceLogLine } from '#server/logs/schema.ts'
import { storedLine, type LogLine } from '#server/logs/lines.ts'
import { mergedByTime, readNewest } from '#server/logs/newest.ts'
import { listParts, partPath } from '#server/logs/parts.ts'
import { searchParts, type NamedLog, type SharedFilter } from '#server/logs/search-parts.ts'

const ALL: SharedFilter = { since: null, until: null, stream: null, levels: null, search: null }
const DAY = '2026-01-01'
const MIDNIGHT = Date.parse(`${DAY}T00:00:00Z`)
const HOUR_MS = 3_600_000
const ROOM = 1e9

/** A line that came so many seconds after midnight. */
const said = (second: number, line: string, more: Partial<LogLine> = {}): LogLine => ({
  ts: new Date(MIDNIGHT + second * 1_000).toISOString(),
  stream: 'stdout',
  line,
  ...more,
})

/** The log of a service with these parts, all but the last of them packed. */
function logOf(name: string, ...parts: LogLine[][]): NamedLog {
  const directory = mkdtempSync(join(tmpdir(), 'logs-across-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  let first = 0
  for (const [index, lines] of parts.entries()) {
    const isLast = index === parts.length - 1
    const path = `${partPath(directory, first, DAY)}${isLast ? '' : '.gz'}`
    const text = lines.map(storedLine).join('')
    writeFileSync(path, isLast ? text : gzipSync(text))
    const written = new Date(Math.max(...lines.map(({ ts }) => Date.parse(ts))))
    utimesSync(path, written, written)
    first += lines.length
  }
  const slices = listParts(directory).map((part) => ({ ...part, bytes: null }))
  return { service: { id: `id-of-${name}`, name }, slices, instances: null, deploys: new Map() }
}

async function newest(logs: NamedLog[], tail: number, filter: Partial<SharedFilter> = {}, room = ROOM) {
  const { blocks, ...rest } = await readNewest(logs, { ...ALL, ...filter }, tail, room, 60_000)
  const lines = blocks.join('').split('\n').slice(0, -1)
  return { ...rest, lines: lines.map((line) => JSON.parse(line) as ServiceLogLine) }
}

const texts = ({ lines }: { lines: LogLine[] }) => lines.map(({ line }) => line)

test('the newest lines of several logs are merged by time, each with where it comes from', async () => {
  const web = logOf('web', [said(1, 'a'), said(4, 'd')], [said(5, 'e'), said(9, 'i')])
  const api = logOf('api', [said(2, 'b'), said(3, 'c')], [said(6, 'ERROR f', { instance: 'srv-x-aaaaa' })])
  api.deploys = new Map([['srv-x-aaaaa', 'dep-1']])
  expect(texts(await newest([web, api], 100))).toEqual(['a', 'b', 'c', 'd', 'e', 'ERROR f', 'i'])
  const { lines, isCut } = await newest([web, api], 2)
  expect(isCut).toBe(false)
  expect(lines[0]).toEqual({
    ...said(6, 'ERROR f', { instance: 'srv-x-aaaaa' }),
    ...{ service_id: 'id-of-api', service: 'api', deploy_id: 'dep-1', level: 'error' },
  })
  expect(lines[1]).toMatchObject({ line: 'i', service: 'web', level: 'info' })
  expect(await newest([web, api], 0)).toMatchObject({ lines: [] })
})

test('for any logs, it finds what sorting all lines would', async () => {
  const log = array(array(nat(50), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 })
  await assert(
    asyncProperty(array(log, { minLength: 1, maxLength: 4 }), nat(40), async (given, tail) => {
      // Times rise within a log, as in a real one.
      const logs = given.map((parts, index) => {
        const times = parts.flat().toSorted((a, b) => a - b)
        return logOf(`s${index}`, ...parts.map((part) => part.map(() => said(times.shift()!, 'x'))))
      })
      const all = given.flatMap((parts) => parts.flat()).toSorted((a, b) => a - b)
      const found = await newest(logs, tail)
      const seconds = found.lines.map(({ ts }) => (Date.parse(ts) - MIDNIGHT) / 1_000)
      expect(seconds).toEqual(tail === 0 ? [] : all.slice(-tail))
    }),
    { numRuns: 30 },
  )
})

test('lines of one log keep their order, even where their times do not rise', () => {
  const first = [{ ts: '3' }, { ts: '1' }, { ts: '4' }]
  const second = [{ ts: '2' }, { ts: '5' }]
  expect(mergedByTime([first, second]).filter((line) => first.includes(line))).toEqual(first)
  expect(mergedByTime([first, second]).filter((line) => second.includes(line))).toEqual(second)
})

test('of several lists with lines of the same time, those of earlier ones come first', () => {
  const lists = ['a', 'b', 'c'].map((name) => ['1', '2'].map((ts) => ({ ts, name })))
  expect(mergedByTime(lists).map(({ ts, name }) => ts + name)).toEqual(['1a', '1b', '1c', '2a', '2b', '2c'])
  expect(mergedByTime([])).toEqual([])
})

test('lines at the same time keep their order, although the part of the first was packed after the next one', async () => {
  const log = logOf('web', [said(1, 'a'), said(2, 'b')], [said(2, 'c')])
  const packed = new Date(MIDNIGHT + HOUR_MS)
  utimesSync(log.slices[0]!.path, packed, packed)
  expect(texts(await newest([log], 100))).toEqual(['a', 'b', 'c'])
})

test('a reading holds no more than its room, and says that it left out older lines', async () => {
  const log = logOf('web', [said(1, 'a'.repeat(1_000))], [said(2, 'b'), said(3, 'c')])
  const { isCut, lines } = await newest([log], 100, {}, 700)
  expect(isCut).toBe(true)
  expect(texts({ lines })).toEqual(['b', 'c'])
  const other = logOf('api', [said(0, 'older')])
  expect(texts(await newest([log, other], 100, {}, 200))).toEqual(['c'])
})

test('a reading without time left says from when on it is complete, and shows nothing older', async () => {
  const old = logOf('old', [said(1, 'old')])
  const { blocks, unsearchedBefore } = await readNewest([old], ALL, 10, ROOM, -1)
  expect(blocks).toEqual([])
  expect(unsearchedBefore! > said(1, '').ts).toBe(true)
})

test('parts that cannot have lines of the wanted time are not opened', () => {
  const log = logOf('web', [said(1, 'a')], [said(HOUR_MS / 1_000, 'b')], [said(7_200, 'c')])
  const found = (filter: Partial<SharedFilter>) =>
    searchParts([log], { ...ALL, ...filter }).map(({ slice }) => slice.first)
  const hour = (hours: number) => new Date(MIDNIGHT + hours * HOUR_MS).toISOString()
  expect(found({})).toEqual([2, 1, 0])
  expect(found({ since: hour(1.5) })).toEqual([2])
  expect(found({ since: hour(3) })).toEqual([])
  expect(found({ until: hour(-30) })).toEqual([])
  // The server may have been away at midnight, and have read older output since.
  expect(found({ until: hour(-1) })).toEqual([2, 1, 0])
})

test('a histogram counts each line once, by time and level', async () => {
  const web = logOf('web', [said(0, 'a'), said(59, 'WARN b')], [said(60, 'ERROR c'), said(125, 'd')])
  const api = logOf('api', [said(61, 'e', { stream: 'stderr' }), said(400, 'beyond')])
  const bars = { from: MIDNIGHT, step: 60_000, count: 3 }
  const count = (filter: Partial<SharedFilter> = {}) =>
    countLines([web, api], { ...ALL, ...filter }, bars, 60_000)
  expect(await count()).toEqual({
    counts: { debug: [0, 0, 0], info: [1, 0, 1], warn: [1, 0, 0], error: [0, 2, 0] },
    uncountedBefore: null,
  })
  const { counts } = await count({ levels: ['error'], stream: 'stderr' })
  expect(counts.error).toEqual([0, 1, 0])
  expect(counts.info).toEqual([0, 0, 0])
  const cut = await countLines([web, api], ALL, bars, -1)
  expect(cut.uncountedBefore).not.toBeNull()
})

test('bars cover any range, are not too many, and begin at round times', () => {
  const at = integer({ min: MIDNIGHT, max: MIDNIGHT + 400 * 24 * HOUR_MS })
  assert(
    property(at, at, integer({ min: 2, max: 300 }), (one, other, max) => {
      const [since, until] = [Math.min(one, other), Math.max(one, other) + 1]
      const { from, step, count } = barsFor(since, until, max)
      expect(count).toBeLessThanOrEqual(max)
      expect(count).toBeGreaterThan(0)
      expect(from % step).toBe(0)
      expect(from).toBeLessThanOrEqual(since)
      expect(from + count * step).toBeGreaterThanOrEqual(until)
      expect(from + (count - 1) * step).toBeLessThan(until)
    }),
  )
  expect(barsFor(MIDNIGHT, MIDNIGHT + HOUR_MS, 60)).toMatchObject({ step: 60_000, count: 60 })
})
