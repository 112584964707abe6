import { expect, test } from 'vitest'
import { contrast, type Colour } from '../../../dashboard/src/logs/colours.ts'
import { fromLogEvent, spansDays, timeText } from '../../../dashboard/src/logs/line.ts'
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

test('a line reads in the order in which it was written', () => {
  expect(line('GET /\u202egnp.exe مرحبا').plain).toBe('GET /gnp.exe مرحبا')
})

test('markup in a log stays text', () => {
  expect(texts('<script>alert(1)</script>', '')).toEqual([
    { text: '<script>alert(1)</script>', classes: [], found: false },
  ])
})

test('decorations become classes, and colours readable ones', () => {
  expect(texts('\x1b[1;31mbad\x1b[0m \x1b[38;2;201;202;203mrgb', '')).toEqual([
    { text: 'bad', classes: ['log-bold'], colour: 'rgb(255, 128, 120)', found: false },
    { text: ' ', classes: [], found: false },
    { text: 'rgb', classes: [], colour: 'rgb(201, 202, 203)', found: false },
  ])
})

test('every combination of colours can be read, reversed and dim ones too', () => {
  const colours = [30, 31, 32, 33, 34, 35, 36, 37, 90, 91, 92, 93, 94, 95, 96, 97].map((code) => `${code}`)
  const wide = [
    '38;5;16',
    '38;5;208',
    '38;5;231',
    '38;5;244',
    '38;2;0;0;0',
    '38;2;127;127;127',
    '38;2;255;255;255',
  ]
  const numbers = (colour = 'rgb(14, 14, 18)') => colour.match(/\d+/g)!.map(Number) as unknown as Colour
  for (const text of [...colours, ...wide])
    for (const background of ['', ...colours, ...wide].map((code) =>
      code === '' ? '' : `;${asBackground(code)}`,
    ))
      for (const style of ['', ';2', ';7', ';2;7']) {
        const code = `\x1b[${text}${background}${style}m`
        const [segment] = texts(`${code}text`, '')
        const ratio = contrast(numbers(segment!.colour), numbers(segment!.background))
        expect([code, ratio >= 4.5]).toEqual([code, true])
      }
})

function asBackground(code: string): string {
  const [first, ...rest] = code.split(';').map(Number) as [number, ...number[]]
  return [first + 10, ...rest].join(';')
}

test('a match is marked in upper and lower case and across a change of colour', () => {
  const found = texts('an \x1b[31mER\x1b[32mROR\x1b[0m here', 'error')
  expect(found.filter((segment) => segment.found).map((segment) => segment.text)).toEqual(['ER', 'ROR'])
  expect(found.map((segment) => segment.text).join('')).toBe('an ERROR here')
})

test.each([
  ['matches', 'x'.repeat(16_000), 'x'],
  ['colours', '\x1b[31mx\x1b[32my'.repeat(1_500), ''],
  ['both', '\x1b[31mx\x1b[32mx'.repeat(1_500), 'x'],
])(
  'a line with thousands of %s is shown completely, in as many pieces as a page can bear',
  (_, text, query) => {
    const pieces = texts(text, query)
    expect(pieces.length).toBeLessThan(1_000)
    expect(pieces.map((piece) => piece.text).join('')).toBe(line(text).plain)
  },
)

test('lines of more than one day show their day', () => {
  const at = (ts: string) => fromLogEvent({ ts, stream: 'stdout', line: 'said' }, 1)
  const [first, later, next] = [
    at('2026-01-02T12:00:00.000Z'),
    at('2026-01-02T12:00:01.000Z'),
    at('2026-01-04T12:00:00.000Z'),
  ]
  expect([[], [first], [first, later], [first, next]].map(spansDays)).toEqual([false, false, false, true])
  expect(timeText(next.ts, true)).toBe(`01-04 ${timeText(next.ts, false)}`)
})
