import { expect, test } from 'vitest'
import { fromLogEvent } from '../../../dashboard/src/logs/line.ts'
import { segmentsOf } from '../../../dashboard/src/logs/segments.ts'

const line = (text: string) =>
  fromLogEvent({ ts: '2026-01-02T03:04:05.678Z', stream: 'stdout', line: text }, 1)
const texts = (text: string, query: string) => {
  const { text: shown, plain } = line(text)
  return segmentsOf(shown, plain, query)
}

test('of a line that redraws itself the last drawing stays', () => {
  expect(line('10 %\r50 %\r100 %\r').plain).toBe('100 %')
})

test('cursor moves, titles and links are left out, colours stay', () => {
  expect(line('\x1b[2K\x1b[1G\x1b]0;title\x07\x1b[32mok\x1b[0m').text).toBe('\x1b[32mok\x1b[0m')
  expect(line('\x1b[32mok\x1b[0m').plain).toBe('ok')
})

test('markup in a log stays text', () => {
  expect(texts('<script>alert(1)</script>', '')).toEqual([
    { text: '<script>alert(1)</script>', classes: [], found: false },
  ])
})

test('colours and decorations become classes, true colours become a colour', () => {
  expect(texts('\x1b[1;31mbad\x1b[0m \x1b[38;2;1;2;3mrgb', '')).toEqual([
    { text: 'bad', classes: ['log-bold', 'log-fg-red'], found: false },
    { text: ' ', classes: [], found: false },
    { text: 'rgb', classes: [], colour: 'rgb(1, 2, 3)', found: false },
  ])
})

test('a match is marked in any case and across a change of colour', () => {
  const found = texts('an \x1b[31mER\x1b[32mROR\x1b[0m here', 'error')
  expect(found.filter((segment) => segment.found).map((segment) => segment.text)).toEqual(['ER', 'ROR'])
  expect(found.map((segment) => segment.text).join('')).toBe('an ERROR here')
})
