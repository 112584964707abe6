import { expect, test } from 'vitest'
import { LineRing } from '../../server/logs/ring.ts'
import type { LogLine } from '../../server/logs/lines.ts'

const line = (text: string): string =>
  `${JSON.stringify({ ts: '2026-01-01T00:00:00.000Z', stream: 'stdout', line: text } satisfies LogLine)}\n`

/** Everything from a position on, and how many lines were missed. */
function readAll(ring: LineRing, from: number): { lines: string[]; lost: number } {
  const lines: string[] = []
  let lost = 0
  for (let taken = ring.take(from); taken; taken = ring.take(taken.next)) {
    lost += taken.lost
    for (const text of taken.text.toString().trimEnd().split('\n'))
      lines.push((JSON.parse(text) as LogLine).line)
  }
  return { lines, lost }
}

test('a follower gets every line after its place, wherever in a batch that is', () => {
  const ring = new LineRing()
  ring.push(['1', '2', '3'].map(line))
  ring.push(['4'].map(line))
  ring.push(['5', '6'].map(line))
  expect(readAll(ring, 0).lines).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(readAll(ring, ring.tail(3)).lines).toEqual(['4', '5', '6'])
  expect(readAll(ring, ring.tail(5)).lines).toEqual(['2', '3', '4', '5', '6'])
  expect(readAll(ring, ring.tail(0)).lines).toEqual([])
  expect(ring.take(ring.end)).toBeNull()
})

test('a follower that is too far behind is told exactly how many lines it has missed', () => {
  const ring = new LineRing()
  const total = 30_000
  for (let n = 0; n < total; n += 100)
    ring.push(Array.from({ length: 100 }, (_, index) => line(`${n + index} ${'x'.repeat(500)}`)))
  const { lines, lost } = readAll(ring, 0)
  expect(lost).toBeGreaterThan(0)
  expect(lines.length + lost).toBe(total)
  expect(lines[0]).toMatch(new RegExp(`^${lost} `))
  expect(lines.at(-1)).toMatch(new RegExp(`^${total - 1} `))
})

test('followers that keep up share what they are given, wherever in a batch they are', () => {
  const ring = new LineRing()
  ring.push(['1', '2', '3'].map(line))
  for (const position of [0, 1, 2]) expect(ring.take(position)!.text).toBe(ring.take(position)!.text)
  ring.push(['4'].map(line))
  expect(readAll(ring, 1).lines).toEqual(['2', '3', '4'])
})

test('stored lines before its first count as its lines, and as all of the log if no older ones are stored', () => {
  const ring = new LineRing(5)
  ring.push(['6', '7'].map(line))
  expect([ring.reaches(2), ring.reaches(3)]).toEqual([true, false])
  ring.prepend(
    [
      ['2', '3'],
      ['4', '5'],
    ].map((batch) => Buffer.from(batch.map(line).join(''))),
    false,
  )
  expect(readAll(ring, ring.tail(6)).lines).toEqual(['2', '3', '4', '5', '6', '7'])
  expect(readAll(ring, 4).lines).toEqual(['5', '6', '7'])
  expect([ring.reaches(6), ring.reaches(7)]).toEqual([true, false])
  ring.prepend([Buffer.from(line('1'))], true)
  expect(readAll(ring, 0)).toEqual({ lines: ['1', '2', '3', '4', '5', '6', '7'], lost: 0 })
  expect(ring.reaches(1_000)).toBe(true)
})

test('more than it can hold at once leaves the newest lines', () => {
  const ring = new LineRing()
  ring.push(Array.from({ length: 20_000 }, (_, index) => line(`${index} ${'x'.repeat(1_000)}`)))
  const { lines, lost } = readAll(ring, 0)
  expect(lines.length + lost).toBe(20_000)
  expect(lines.length).toBeGreaterThan(5_000)
  expect(lines.at(-1)).toMatch(/^19999 /)
})
