import { expect, test } from 'vitest'
import { COMPLETE, Head } from '../../../proxy/http1/head.ts'
import { parseRequestHead } from '../../../proxy/http1/request-head.ts'

const REQUEST = 'GET / HTTP/1.1\r\n'
const LINES = [
  'Host: app.test',
  'User-Agent: somebody',
  'Accept: text/html,application/xhtml+xml;q=0.9',
  'X-Eight: ',
  'X-Some: 1',
  'X-Some: 12',
  'X-Some: 123',
  'X-Some: 1234',
  'Cookie: session=0123456789abcdef',
]
const X = 'X'.charCodeAt(0)

/** What of a head passes, in a buffer of its own so that it begins anywhere. */
function passed(text: string, shift: number): { result: number; text: string; names: string[] } {
  const input = Buffer.from(' '.repeat(shift) + text, 'latin1')
  const output = Buffer.alloc(input.length + 64, 0xff)
  const head = new Head()
  const result = parseRequestHead(input, shift, input.length, output, shift, head)
  const names = [...head.nameEnds.subarray(0, head.lines)].map((end, line) =>
    output.toString('latin1', head.lineStarts[line], end),
  )
  return { result, text: output.toString('latin1', shift, head.outputEnd), names }
}

const headOf = (lines: readonly string[]) => `${REQUEST}${lines.map((line) => `${line}\r\n`).join('')}\r\n`

test('a head that is known is read as it was the first time, wherever it stands', () => {
  const first = passed(headOf(LINES), 0)
  expect(first).toMatchObject({ result: COMPLETE, text: headOf(LINES).slice(0, -2) })
  expect(first.names).toEqual(LINES.map((line) => line.split(':')[0]))
  for (let shift = 0; shift < 8; shift++) expect(passed(headOf(LINES), shift)).toEqual(first)
})

test('a line that differs from a known one by any byte is read as it is', () => {
  for (const [index, line] of LINES.entries()) {
    for (let at = 0; at < line.length; at++) {
      if (index === 0 || !/[\w./=;,]/.test(line[at]!)) continue
      const changed = Buffer.from(line, 'latin1')
      changed[at] = X
      const lines = LINES.with(index, changed.toString('latin1'))
      passed(headOf(LINES), 0)
      const bad = passed(headOf(lines), 0)
      const isName = at < line.indexOf(':')
      expect(bad).toMatchObject({ result: COMPLETE, text: headOf(lines).slice(0, -2) })
      expect(bad.names[index]).toBe(isName ? lines[index]!.split(':')[0] : line.split(':')[0])
    }
  }
})

test('what may not stand in a line is refused although the line is known but for that', () => {
  for (const [index, line] of LINES.entries()) {
    for (const byte of ['\0', '\n', '\r', '\x7f']) {
      for (let at = 0; at <= line.length; at++) {
        passed(headOf(LINES), 0)
        const lines = LINES.with(index, line.slice(0, at) + byte + line.slice(at))
        expect(passed(headOf(lines), 0).result).toBe(400)
      }
    }
  }
})

test('a head that is cut anywhere amid known lines is not complete', () => {
  const text = headOf(LINES)
  for (let end = REQUEST.length; end < text.length; end++)
    expect(passed(text.slice(0, end), 0).result).toBe(-1)
})
