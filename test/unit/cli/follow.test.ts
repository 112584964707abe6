import { execFileSync } from 'node:child_process'
import { array, assert, constant, integer, nat, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { commandOf } from '../../../cli/client/commands/run.ts'
import { Patience } from '../../../cli/client/follow/cuts.ts'
import { Position } from '../../../cli/client/follow/position.ts'
import { runs } from '../../support/runs.ts'

const BEGIN = Date.parse('2026-01-02T03:04:05Z')

interface Line {
  ts: string
  text: string
  isOutput: boolean
}

const lineAt = (time: number, text: string, isOutput = true): Line => ({
  ts: new Date(BEGIN + time).toISOString(),
  text,
  isOutput,
})

/**
 * Reads the last lines of a log and all that come later, over connections that are cut. The log can only be read again from a
 * time on, and grows by some lines with each connection. Returns what was printed, and how many lines were sent.
 */
function readAcross(
  log: readonly Line[],
  tail: number,
  cuts: readonly { sent: number; grown: number }[],
): { printed: Line[]; sent: number } {
  const position = new Position()
  const printed: Line[] = []
  let [end, sent] = [tail, 0]
  const read = (lines: readonly Line[], count: number) => {
    const passing = position.again()
    const since = passing.since ?? -Infinity
    for (const line of lines.filter(({ ts }) => Date.parse(ts) >= since).slice(0, count)) {
      sent++
      if (passing.isKnown(line)) continue
      position.add(line)
      printed.push(line)
    }
    expect(passing.isGap).toBe(false)
  }
  for (const cut of cuts) {
    read(printed.length === 0 ? log.slice(end - tail, end) : log.slice(0, end), cut.sent)
    end = Math.min(log.length, end + cut.grown)
  }
  read(printed.length === 0 ? log.slice(end - tail) : log, Infinity)
  return { printed, sent }
}

const someCuts = array(record({ sent: nat(60), grown: nat(30) }), { maxLength: 6 })

test('no line is printed twice and none is left out, wherever a log is cut', () => {
  const steps = array(oneof(constant(0), integer({ min: 0, max: 2_000 })), { maxLength: 120 })
  assert(
    property(steps, nat(), someCuts, (gaps, seed, cuts) => {
      let time = 0
      const log = gaps.map((gap, number) => lineAt((time += gap), `line ${number}`))
      const tail = log.length === 0 ? 0 : seed % (log.length + 1)
      const { printed } = readAcross(log, tail, cuts)
      // Until something was printed, the last lines of the log are what is wanted.
      expect(printed).toEqual(log.slice(log.length - printed.length))
      expect(printed.length).toBeGreaterThanOrEqual(tail)
    }),
    { numRuns: runs(300) },
  )
})

test('a line that comes late, with an earlier time than others, is not left out', () => {
  const times = [0, 5_000, 5_100, 4_000, 5_100, 2_500, 5_200, 8_000, 5_200, 3_100]
  const log = times.map((time, number) => lineAt(time, `line ${number}`))
  for (let sent = 2; sent <= log.length; sent++)
    expect(readAcross(log, log.length, [{ sent, grown: 0 }]).printed).toEqual(log)
})

test('of a long log little is read again, even if all of it has one time', () => {
  const numbers = Array.from({ length: 50_000 }, (_, number) => number)
  const sentOf = (log: readonly Line[]) => {
    const { printed, sent } = readAcross(log, log.length, [{ sent: 40_000, grown: 0 }])
    expect(printed).toEqual(log)
    return sent - log.length
  }
  expect(sentOf(numbers.map((number) => lineAt(Math.floor(number / 100), `${number}`)))).toBeLessThan(10_200)
  expect(sentOf(numbers.map((number) => lineAt(number * 50, `${number}`)))).toBeLessThan(110)
  expect(sentOf(numbers.map((number) => lineAt(0, `${number}`)))).toBe(40_000)
  // As many as are remembered, and those of one moment behind them.
  const burst = numbers.map((number) => lineAt(number < 1_000 ? number : 1_000, `${number}`))
  expect(sentOf(burst)).toBe(39_000)
})

test('a line to which a killed server gave another time is known by its text', () => {
  const log = Array.from({ length: 400 }, (_, number) => lineAt(number, `line ${number}`))
  const position = new Position()
  for (const line of log.slice(0, 300)) position.add(line)
  const passing = position.again()
  const moved = log.map(({ text }, number) => lineAt(number < 250 ? number : number - 7, text))
  const sent = moved.filter(({ ts }) => Date.parse(ts) >= passing.since!)
  expect(sent.filter((line) => !passing.isKnown(line))).toEqual(moved.slice(300))
})

test('a log that begins behind the last printed line has a gap', () => {
  const position = new Position()
  position.add(lineAt(0, 'printed'))
  const passing = position.again()
  expect(passing.isKnown(lineAt(1, 'new'))).toBe(false)
  expect(passing.isGap).toBe(true)
})

test('without a printed line, what comes behind the last one is new', () => {
  const position = new Position()
  position.beginAfter(lineAt(5, 'not printed'))
  expect(position.since).toBe(BEGIN + 6)
  const passing = position.again()
  expect(passing.isKnown(lineAt(6, 'new'))).toBe(false)
  expect(passing.isGap).toBe(false)
})

test('the notes of the server, which may be ahead of the output, move no position', () => {
  const position = new Position()
  position.add(lineAt(0, 'output'))
  position.add(lineAt(60_000, 'note', false))
  position.add(lineAt(1_000, 'output'))
  expect(position.since).toBe(BEGIN + 1)
  const passing = position.again()
  const again = [lineAt(60_000, 'note'), lineAt(1_000, 'output'), lineAt(2_000, 'new'), lineAt(60_000, 'new')]
  expect(again.map((line) => passing.isKnown(line))).toEqual([true, true, false, false])
})

test('a stream is taken up after 0.5 s, twice as late each time up to 15 s, for 5 minutes', () => {
  let now = 0
  const patience = new Patience(() => now)
  const pauses: number[] = []
  for (let pause = patience.pauseMs(); pause !== null; pause = patience.pauseMs()) {
    pauses.push(pause)
    now += pause
  }
  const usual = [500, 1_000, 2_000, 4_000, 8_000, ...pauses.slice(5).map(() => 15_000)]
  pauses.forEach((pause, index) => {
    expect(pause).toBeGreaterThanOrEqual(usual[index]! * 0.8)
    expect(pause).toBeLessThanOrEqual(usual[index]! * 1.2)
  })
  expect(now).toBeGreaterThanOrEqual(300_000)
  expect(now).toBeLessThan(320_000)
})

test('the pauses begin again after progress, and the 5 minutes with each connection', () => {
  let now = 0
  const patience = new Patience(() => now)
  const fail = () => {
    const pause = patience.pauseMs()!
    now += pause
    return Math.round(pause / 500)
  }
  for (let count = 0; count < 8; count++) fail()
  expect(patience.opened()).toBe(true)
  // A connection that is cut at once is no reason to hurry.
  expect(patience.pauseMs()).toBeGreaterThan(10_000)
  patience.opened()
  patience.progressed()
  expect(patience.pauseMs()).toBeLessThan(700)
  now += 299_000
  expect(patience.pauseMs()).not.toBeNull()
  patience.opened()
  now += 299_000
  expect(patience.pauseMs()).not.toBeNull()
})

test('several words reach the program of a job exactly as they are; one is for the shell', () => {
  expect(commandOf([])).toBeNull()
  expect(commandOf(['echo $HOME'])).toBe('echo $HOME')
  const words = ['printf', '%s\\n', 'a  b', "it's", '$HOME', '', '*', '"', '\\', 'ü\n', '-n']
  const printed = execFileSync('sh', ['-c', commandOf(words)!]).toString()
  expect(printed).toBe(
    words
      .slice(2)
      .map((word) => `${word}\n`)
      .join(''),
  )
})
