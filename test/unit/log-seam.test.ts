import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { endOfKnown, joinLive } from '../../daemon/logs/seam.ts'
import type { OutputLine } from '../../daemon/engine/log-frames.ts'

/** Lines of one millisecond each, from a moment on. */
function lines(texts: string[], from = 0, stream: OutputLine['stream'] = 'stdout'): OutputLine[] {
  return texts.map((line, index) => ({
    ts: new Date(Date.UTC(2026, 0) + from + index).toISOString(),
    stream,
    line,
  }))
}

const texts = (all: readonly OutputLine[]) => all.map(({ line }) => line)

function joined(logged: OutputLine[], live: OutputLine[]): string[] {
  const { before, live: rest } = joinLive(logged, live, 0)
  return texts([...before, ...rest])
}

test('the log and the live lines are joined where both have the same', () => {
  expect(joined(lines(['1', '2', '3']), lines(['3', '4', '5'], 3))).toEqual(['1', '2', '3', '4', '5'])
  expect(joined(lines(['1', '2', '3', '4']), lines(['2', '3'], 3))).toEqual(['1', '2', '3'])
  expect(joined(lines(['1', '2']), lines(['1', '2', '3'], 2))).toEqual(['1', '2', '3'])
  expect(joined(lines(['1', '2']), [])).toEqual(['1', '2'])
  expect(joined([], lines(['1']))).toEqual(['1'])
})

test('they are joined where everything that follows is the same, even if the times suggest another place', () => {
  const logged = lines(['a', 'b', 'a', 'c'])
  const live = lines(['a', 'c', 'd'])
  expect(joined(logged, live)).toEqual(['a', 'b', 'a', 'c', 'd'])
  expect(joinLive(logged, live, 2).isAmbiguous).toBe(false)
})

test('a line that was half printed when the reader attached is taken completely from the log', () => {
  expect(joined(lines(['first line', 'second line']), lines(['ond line', 'third'], 2))).toEqual([
    'first line',
    'second line',
    'third',
  ])
})

test('so is one of which only the newline came afterwards, or a part of a character, or more than is kept of it', () => {
  expect(joined(lines(['prompt: ']), lines(['', 'next'], 1))).toEqual(['prompt: ', 'next'])
  expect(joined(lines(['naïve']), lines(['\ufffdve', 'next'], 1))).toEqual(['naïve', 'next'])
  const long = 'x'.repeat(16 * 1024)
  expect(joined(lines(['before', long]), lines(['its end', 'next'], 2))).toEqual(['before', long, 'next'])
})

test('a log that does not reach to the first live line has to be read again', () => {
  const isOpen = (logged: string[], live: string[], due: number) =>
    joinLive(lines(logged), lines(live, 3), due).isOpen
  expect(isOpen(['1', '2'], ['4', '5'], 1)).toBe(true)
  expect(isOpen(['1', '2'], ['2', '3'], 2)).toBe(true)
  expect(isOpen(['1', '2'], ['2', '3'], 0)).toBe(true)
  expect(isOpen(['1', '2'], [''], 1)).toBe(true)
  expect(isOpen(['1', '2'], ['2', '3'], 1)).toBe(false)
})

test('streams are joined independently', () => {
  const logged = [...lines(['a', 'b']), ...lines(['x', 'y'], 0, 'stderr')]
  const live = [...lines(['y', 'z'], 2, 'stderr'), ...lines(['b', 'c'], 2)]
  const result = joined(logged, live)
  expect(result.toSorted()).toEqual(['a', 'b', 'c', 'x', 'y', 'z'])
})

const after = (logged: OutputLine[], known: OutputLine[]) => logged.slice(endOfKnown(logged, known))

test('after a pause the place is found by what was known, even if the text repeats itself', () => {
  expect(texts(after(lines(['1', '2', '3', '4']), lines(['2', '3'], 1)))).toEqual(['4'])
  expect(texts(after(lines(['1', '2']), lines(['1', '2'])))).toEqual([])
  expect(texts(after(lines(['1', '2']), []))).toEqual(['1', '2'])
  const ticks = lines(Array<string>(10).fill('tick'))
  expect(after(ticks, ticks.slice(3, 7))).toEqual(ticks.slice(7))
})

test('bytes that are not text, for which the log and this server write different characters, hide no place', () => {
  const logged = lines(['a', 'b\ufffd\ufffd', 'c'])
  expect(joined(logged, lines(['b\ufffd', 'c', 'd'], 1))).toEqual(['a', 'b\ufffd\ufffd', 'c', 'd'])
  expect(texts(after(logged, lines(['a', 'b\ufffd'])))).toEqual(['c'])
})

test("a line's end is used only once the log is surely no longer behind", () => {
  expect(joinLive(lines(['  }']), lines(['}'], 1), 1).isOpen).toBe(true)
  expect(joinLive(lines(['  }', '}']), lines(['}'], 1), 1).isOpen).toBe(false)
})

test('of a great many equal lines no more are compared than a server has time for', () => {
  const began = performance.now()
  const same = Array<string>(40_000).fill('y')
  expect(joinLive(lines(same), lines(same.slice(20_000)), 20_000).isAmbiguous).toBe(true)
  expect(endOfKnown(lines(same), lines(same.slice(0, 512)))).toBeGreaterThan(0)
  // A second of one core at most; without a bound it is a minute.
  expect(performance.now() - began).toBeLessThan(10_000)
})

/** The same line again and again, a period apart, and how much later each one arrived. */
function ticks(count: number, periodMs: number, latenessMs: (index: number) => number): OutputLine[] {
  return Array.from({ length: count }, (_, index) => ({
    ts: new Date(Date.UTC(2026, 0) + index * periodMs + latenessMs(index)).toISOString(),
    stream: 'stdout',
    line: 'tick',
  }))
}

/** Most come at once; the server was busy for a moment, more than once, the last time at the end. */
const lateNow = (index: number) => (index % 40 > 30 ? 45 - (index % 40) : 1)

test.each([5, 10, 100])('equal lines every %s ms are distinguished by their times', (periodMs) => {
  const logged = ticks(120, periodMs, () => 0)
  const arrived = ticks(120, periodMs, lateNow)
  for (const end of [1, 30, 39, 80, 119])
    expect(after(logged, arrived.slice(0, end))).toEqual(logged.slice(end))
  for (const start of [0, 1, 35, 90])
    expect(joinLive(logged.slice(0, 100), arrived.slice(start), 100 - start).before).toEqual(
      logged.slice(0, start),
    )
})

/** Lines that are printed one by one, and when they arrive: now and then the server is busy, and reads them later. */
const tickings = fc
  .record({
    count: fc.integer({ min: 220, max: 300 }),
    periodMs: fc.integer({ min: 10, max: 200 }),
    burst: fc.constantFrom(1, 5),
    lateMs: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 10, maxLength: 20 }),
    busy: fc.array(fc.record({ from: fc.nat(299), lines: fc.integer({ min: 1, max: 15 }) }), {
      maxLength: 2,
    }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ count, periodMs, burst, lateMs, busy, share }) => {
    const printed = Array.from({ length: count }, (_, index) => Math.floor(index / burst) * burst * periodMs)
    const arrived = printed.map((moment, index) => moment + lateMs[index % lateMs.length]!)
    for (const { from, lines: many } of busy) {
      const end = printed[Math.min(count - 1, from + many)]!
      for (let index = from; index < Math.min(count, from + many); index++)
        arrived[index] = Math.max(arrived[index]!, end)
    }
    return {
      logged: ticks(count, 0, (index) => printed[index]!),
      arrived: ticks(count, 0, (index) => arrived[index]!),
      place: 200 + Math.floor(share * (count - 200)),
    }
  })

test('equal lines are found in their place, whatever a busy moment did to some of them', () => {
  fc.assert(
    fc.property(tickings, ({ logged, arrived, place }) => {
      expect(endOfKnown(logged, arrived.slice(0, place))).toBe(place)
      const start = Math.floor((place - 200) / 5)
      const live = arrived.slice(start, place)
      expect(joinLive(logged.slice(0, place), live, live.length).before).toHaveLength(start)
    }),
    // What was drawn is likely, not certain: another draw must not fail another day.
    { seed: 1 },
  )
})

test('lines that differ are found in their place, whatever their times say', () => {
  const moments = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(moments, moments, fc.nat(), fc.nat(), (printed, lateMs, one, other) => {
      const at = (moment: number) => new Date(Date.UTC(2026, 0) + moment).toISOString()
      const logged = printed.map((moment, index) => ({
        ts: at(moment),
        stream: 'stdout' as const,
        line: `line ${index}`,
      }))
      const arrived = logged.map((line, index) => ({ ...line, ts: at(lateMs[index % lateMs.length]!) }))
      const place = 1 + (one % printed.length)
      expect(endOfKnown(logged, arrived.slice(Math.max(0, place - 256), place))).toBe(place)
      const start = other % place
      const { before, live } = joinLive(logged.slice(0, place), arrived.slice(start), place - start)
      expect(texts([...before, ...live])).toEqual(texts(logged))
    }),
  )
})
