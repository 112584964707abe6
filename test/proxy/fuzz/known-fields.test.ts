import { expect, test } from 'vitest'
import { COMPLETE, Head } from '../../../proxy/http1/head.ts'
import { KnownFields } from '../../../proxy/http1/known-fields.ts'
import { parseRequestHead } from '../../../proxy/http1/request-head.ts'
import { parseResponseHead } from '../../../proxy/http1/response-head.ts'

const REQUEST = 'GET / HTTP/1.1\r\n'
/** With distinct names, so that each is remembered next to the others, in all lengths modulo the four bytes of a word. */
const LINES = [
  'Host: app.test',
  'User-Agent: somebody',
  'Accept: text/html,application/xhtml+xml;q=0.9',
  'Sec-Fetch-Site: ',
  'Content-Type: 1',
  'Cache-Control: 12',
  'Accept-Language: 123',
  'Sec-CH-UA-Mobile: 1234',
  'Cookie: session=0123456789abcdef',
]
const KNOWN = LINES.slice(1, -1)
/** What Chrome sends with a page, and an application's answer, without what is never remembered. */
const HEADS = [
  [
    'sec-ch-ua: "Chromium";v="128", "Not;A=Brand";v="24", "Google Chrome";v="128"',
    'sec-ch-ua-mobile: ?0',
    'sec-ch-ua-platform: "Windows"',
    'Upgrade-Insecure-Requests: 1',
    'User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0',
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
    'Sec-Fetch-Site: none',
    'Sec-Fetch-Mode: navigate',
    'Sec-Fetch-User: ?1',
    'Sec-Fetch-Dest: document',
    'Accept-Encoding: gzip, deflate, br, zstd',
    'Accept-Language: en-US,en;q=0.9',
  ],
  [
    'Server: nginx/1.24.0',
    'Date: Sun, 22 Nov 2026 21:52:32 GMT',
    'Content-Type: text/html; charset=utf-8',
    'Content-Encoding: gzip',
    'Cache-Control: public, max-age=0',
    'Vary: Accept-Encoding',
    'Access-Control-Allow-Origin: *',
    'Strict-Transport-Security: max-age=15552000; includeSubDomains',
    'X-Content-Type-Options: nosniff',
    'X-DNS-Prefetch-Control: off',
    'X-Frame-Options: SAMEORIGIN',
    'X-Powered-By: Express',
  ],
]
const X = 'X'.charCodeAt(0)

/** The part of a head that passes, in a separate buffer so that it begins anywhere. */
function passed(text: string, shift: number) {
  const input = Buffer.from(' '.repeat(shift) + text, 'latin1')
  const output = Buffer.alloc(input.length + 64, 0xff)
  const head = new Head()
  const result = parseRequestHead(input, shift, input.length, output, shift, head)
  const names = [...head.nameEnds.subarray(0, head.lines)].map((end, line) =>
    output.toString('latin1', head.lineStarts[line], end),
  )
  const { expectsOther } = head
  return { result, text: output.toString('latin1', shift, head.outputEnd), names, expectsOther }
}

/** Looks each line up and remembers it if it is not known. Returns those that were known. */
function read(known: KnownFields, lines: readonly string[]): string[] {
  return lines.filter((line) => {
    const bytes = Buffer.from(`${line}\r\n`, 'latin1')
    const output = Buffer.alloc(bytes.length)
    if (known.repeat(bytes, 0, bytes.length, output, 0) > 0) return output.equals(bytes)
    known.remember(bytes, 0, line.indexOf(':'), bytes.length)
    return false
  })
}

/** What is known of lines that were read earlier. */
function repeated(lines: readonly string[]): string[] {
  const known = new KnownFields()
  read(known, lines)
  return read(known, lines)
}

const headOf = (lines: readonly string[]) => `${REQUEST}${lines.map((line) => `${line}\r\n`).join('')}\r\n`

test('these lines are known once they were read, except those with a meaning or a secret', () => {
  expect(repeated(KNOWN)).toEqual(KNOWN)
  expect(new Set(KNOWN.map(({ length }) => length % 4)).size).toBe(4)
})

test('the lines of one head are known next to each other', () => {
  for (const lines of HEADS) expect(repeated(lines)).toEqual(lines)
})

test('nothing is remembered that could be a secret', () => {
  const names = ['Cookie', 'Authorization', 'Proxy-Authorization', 'Set-Cookie', 'X-Api-Key', 'Private-Token']
  const lines = [...names, ...names.map((name) => name.toLowerCase())].map(
    (name) => `${name}: 0123456789abcdef`,
  )
  expect(repeated(lines)).toEqual([])
})

const browser = (version: number) =>
  `User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/${version}.0.0.0`

test('of alternating browsers two are known, whoever else comes, until they stay away', () => {
  const known = new KnownFields()
  const two = [browser(1), browser(2)]
  read(known, two)
  for (let turn = 0; turn < 100; turn++)
    expect(read(known, [...two, browser(turn + 3), browser(turn + 4)])).toEqual(two)
  const other = browser(200)
  for (let time = 0; time < 100; time++) read(known, [other])
  expect(read(known, [other, browser(2)])).toEqual([other, browser(2)])
})

test('a known head is read as it was the first time, wherever it is', () => {
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

test('a forbidden byte in a line is refused although the rest of the line is known', () => {
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

test('a head that is cut anywhere among known lines is not complete', () => {
  const text = headOf(LINES)
  for (let end = REQUEST.length; end < text.length; end++)
    expect(passed(text.slice(0, end), 0).result).toBe(-1)
})

test('a field without meaning in an answer is checked in a request, however often an answer has had it', () => {
  const lines = [
    'X-Real-IP: 192.0.2.1',
    'X-Forwarded-For: 192.0.2.1',
    'Host: no host',
    'Expect: what nobody can do',
  ]
  const answer = `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
  const input = Buffer.from(answer, 'latin1')
  for (let time = 0; time < 3; time++) {
    const head = new Head()
    const output = Buffer.alloc(input.length)
    expect(parseResponseHead(input, 0, input.length, output, 0, head)).toBe(COMPLETE)
    expect(output.toString('latin1', 0, head.outputEnd)).toBe(answer.slice(0, -2))
  }
  const good = ['Host: app.test']
  expect(passed(headOf([...good, ...lines.slice(0, 2)]), 0).names).toEqual(['Host'])
  expect(passed(headOf(lines.slice(2, 3)), 0).result).toBe(400)
  expect(passed(headOf([...good, lines[3]!]), 0)).toMatchObject({ result: COMPLETE, expectsOther: true })
})
