import { GET, H, get, type Refused, type Served } from './cases.ts'

const KIB = 1024
/** A request line of so many bytes without its CRLF. */
const requestLine = (bytes: number) => `GET /${'a'.repeat(bytes - 'GET / HTTP/1.1'.length)} HTTP/1.1`
/** A head of so many bytes, including all line ends. */
const headOf = (bytes: number) => get(`X: ${'a'.repeat(bytes - get('X: ').length)}`)

export const LIMITS: readonly Refused[] = [
  ['a request line of over 8 KiB', 414, `${requestLine(8 * KIB + 1)}\r\n${H}\r\n\r\n`],
  ['a request line of 20 KiB', 414, `${requestLine(20 * KIB)}\r\n${H}\r\n\r\n`],
  ['a request line without an end', 414, `GET /${'a'.repeat(20_000)}`],
  ['a long absolute target', 414, `GET http://app.test/${'a'.repeat(9000)} HTTP/1.1\r\n${H}\r\n\r\n`],
  ['a head one byte over 64 KiB', 431, headOf(64 * KIB + 1)],
  ['a head of over 64 KiB', 431, headOf(66 * KIB)],
  [
    'a head of many fields over 64 KiB',
    431,
    get(...Array.from({ length: 90 }, (_, index) => `X-${index}: ${'a'.repeat(800)}`)),
  ],
  ['a head without an end', 431, `${GET}\r\n${H}\r\nX: ${'a'.repeat(140_000)}`],
  ['a name without an end', 431, `${GET}\r\n${H}\r\n${'X'.repeat(140_000)}`],
  ['white space without an end', 431, `${GET}\r\n${H}\r\nX:${' '.repeat(140_000)}`],
  ['101 fields', 431, get(...Array.from({ length: 100 }, () => 'X: y'))],
  ['101 fields that go no further', 431, get(...Array.from({ length: 100 }, () => 'TE: y'))],
  ['101 fields that Connection names', 400, get(`Connection: ${'x-a,'.repeat(101)}`)],
  ['101 options of Connection', 400, get(`Connection: ${'close,'.repeat(101)}`)],
  ['51 options of Connection twice', 400, get(...Array(2).fill(`Connection: ${'x-a, '.repeat(51)}`))],
  ['1000 fields', 431, get(...Array.from({ length: 1000 }, () => 'X: y'))],
]

export const WITHIN: readonly Served[] = [
  {
    what: 'a request line of 8 KiB',
    bytes: `${requestLine(8 * KIB)}\r\n${H}\r\n\r\n`,
    read: [[requestLine(8 * KIB).slice(0, -9), '']],
  },
  { what: 'a head of 64 KiB', bytes: headOf(64 * KIB), read: [['GET /', '']], kept: /\r\nX: a{60000}/ },
  {
    what: '100 fields',
    bytes: get(...Array.from({ length: 99 }, () => 'X: y')),
    read: [['GET /', '']],
    kept: /(?:X: y\r\n){99}/,
  },
  {
    what: '100 fields that Connection names',
    bytes: get(`Connection: ${'x-a,'.repeat(100)}`, 'X-A: b'),
    read: [['GET /', '']],
  },
  {
    what: 'a Connection field of nothing but commas',
    bytes: get(`Connection: ${', ,\t'.repeat(15_000)}X-A`, 'X-A: b'),
    read: [['GET /', '']],
    gone: /X-A/,
  },
]
