import { expect, test } from 'vitest'
import { afterKnown, placeByText } from '../../daemon/logs/seam.ts'
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

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

test('the place of what came live is told by texts that differ', () => {
  expect(placeByText(lines(numbers(1, 20)), lines(numbers(5, 25)), 16)).toBe(4)
  expect(placeByText(lines(numbers(1, 20)), lines(['', ...numbers(6, 25)]), 16)).toBe(4)
  expect(placeByText(lines(['one line', ...numbers(6, 20)]), lines(['line', ...numbers(6, 25)]), 16)).toBe(0)
})

test('the place of what came live is not told by few texts, by repeated ones, or by a log that lacks lines', () => {
  expect(placeByText(lines(numbers(1, 20)), lines(numbers(14, 20)), 7)).toBeNull()
  expect(placeByText(lines(numbers(1, 20)), lines(numbers(11, 25)), 15)).toBeNull()
  expect(placeByText(lines(numbers(1, 20)), lines(numbers(31, 45)), 15)).toBeNull()
  const ticks = lines(Array<string>(40).fill('tick'))
  expect(placeByText(ticks, ticks.slice(5), 30)).toBeNull()
  const rounds = lines([...numbers(1, 10), ...numbers(1, 10), ...numbers(1, 10)])
  expect(placeByText(rounds, rounds.slice(10, 20), 10)).toBeNull()
})

test('after a pause the place is found by what was known, also where the text repeats itself', () => {
  expect(texts(afterKnown(lines(['1', '2', '3', '4']), lines(['2', '3'], 1)).lines)).toEqual(['4'])
  expect(texts(afterKnown(lines(['1', '2']), lines(['1', '2'])).lines)).toEqual([])
  expect(texts(afterKnown(lines(['1', '2']), []).lines)).toEqual(['1', '2'])
  const ticks = lines(Array<string>(10).fill('tick'))
  expect(afterKnown(ticks, ticks.slice(3, 7))).toEqual({ lines: ticks.slice(7), isMet: true })
})

test('where nothing known is found any more, the time decides', () => {
  const logged = lines(['7', '8', '9'], 7)
  const found = afterKnown(logged, lines(['other'], 7))
  expect({ lines: texts(found.lines), isMet: found.isMet }).toEqual({ lines: ['8', '9'], isMet: false })
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
      expect(afterKnown(logged, arrived.slice(Math.max(0, end - 64), end)).lines).toEqual(logged.slice(end))
  },
)
