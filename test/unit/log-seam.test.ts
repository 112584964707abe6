import { expect, test } from 'vitest'
import { afterKnown, joinLive } from '../../daemon/logs/seam.ts'
import type { OutputLine } from '../../daemon/engine/log-frames.ts'

/** Lines of one millisecond each, from a moment on. */
function lines(texts: string[], from = 0, stream: OutputLine['stream'] = 'stdout'): OutputLine[] {
  return texts.map((line, index) => ({
    ts: `2026-01-01T00:00:00.${String(from + index).padStart(3, '0')}Z`,
    stream,
    line,
  }))
}

const texts = (all: readonly OutputLine[]) => all.map(({ line }) => line)

function joined(logged: OutputLine[], live: OutputLine[]): string[] {
  const { before, live: rest, open } = joinLive(logged, live)
  expect(open).toEqual([])
  return texts([...before, ...rest])
}

test('what the log has and what came live are joined where both have it', () => {
  expect(joined(lines(['1', '2', '3']), lines(['3', '4', '5'], 3))).toEqual(['1', '2', '3', '4', '5'])
  expect(joined(lines(['1', '2', '3', '4']), lines(['2', '3'], 3))).toEqual(['1', '2', '3'])
  expect(joined(lines(['1', '2']), lines(['1', '2', '3'], 2))).toEqual(['1', '2', '3'])
  expect(joined(lines(['1', '2']), [])).toEqual(['1', '2'])
  expect(joined([], lines(['1']))).toEqual(['1'])
})

test('a line that was half printed when the reader attached is taken whole from the log', () => {
  expect(joined(lines(['first line', 'second line']), lines(['ond line', 'third'], 2))).toEqual([
    'first line',
    'second line',
    'third',
  ])
})

test('a log that does not reach to the first live line has to be read again', () => {
  expect(joinLive(lines(['1', '2']), lines(['4', '5'], 3)).open).toEqual(['stdout'])
  expect(joinLive(lines(['1', '2']), lines([''], 3)).open).toEqual(['stdout'])
})

test('streams are joined each by itself', () => {
  const logged = [...lines(['a', 'b']), ...lines(['x', 'y'], 0, 'stderr')]
  const live = [...lines(['y', 'z'], 2, 'stderr'), ...lines(['b', 'c'], 2)]
  const result = joined(logged, live)
  expect(result.toSorted()).toEqual(['a', 'b', 'c', 'x', 'y', 'z'])
})

test('after a pause the place is found by what was known, also where the text repeats itself', () => {
  expect(texts(afterKnown(lines(['1', '2', '3', '4']), lines(['2', '3'], 1)))).toEqual(['4'])
  expect(texts(afterKnown(lines(['1', '2']), lines(['1', '2'])))).toEqual([])
  expect(texts(afterKnown(lines(['1', '2']), []))).toEqual(['1', '2'])
  const ticks = lines(Array<string>(10).fill('tick'))
  expect(afterKnown(ticks, ticks.slice(3, 7))).toEqual(ticks.slice(7))
})

test('where nothing known is found any more, the time decides', () => {
  const logged = lines(['7', '8', '9'], 7)
  expect(texts(afterKnown(logged, lines(['other'], 7)))).toEqual(['8', '9'])
})

/** The same line again and again, a period apart, and how much later than that each one arrived. */
function ticks(count: number, periodMs: number, latenessMs: (index: number) => number): OutputLine[] {
  return Array.from({ length: count }, (_, index) => ({
    ts: new Date(Date.UTC(2026, 0) + index * periodMs + latenessMs(index)).toISOString(),
    stream: 'stdout',
    line: 'tick',
  }))
}

/** Most come at once; the server was busy for a moment, more than once, the last time at the end. */
const lateNow = (index: number) => (index % 40 > 30 ? 45 - (index % 40) : 1)

test.each([5, 10, 100])(
  'lines that are all the same every %s ms are told apart by their times',
  (periodMs) => {
    const logged = ticks(120, periodMs, () => 0)
    const arrived = ticks(120, periodMs, lateNow)
    for (const end of [1, 30, 39, 80, 119])
      expect(afterKnown(logged, arrived.slice(Math.max(0, end - 64), end))).toEqual(logged.slice(end))
    for (const start of [0, 1, 35, 90])
      expect(joinLive(logged.slice(0, 100), arrived.slice(start)).before).toEqual(logged.slice(0, start))
  },
)
