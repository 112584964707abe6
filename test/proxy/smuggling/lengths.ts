import { H, SMUGGLED, byteName, get, post, type Refused, type Served } from './cases.ts'

/** One invalid length: the body is a separate request to readers that read 0 or stop at the odd byte. */
function length(what: string, value: string): Refused {
  return [what, 400, post([`Content-Length:${value}`], `abcd${SMUGGLED}`)]
}

const SWEPT = [0, 1, 0x0b, 0x0c, 0x1f, 0x7f, 0x85, 0xa0, 0xb2, 0xff]

const sweeps: Refused[] = SWEPT.flatMap((byte): Refused[] => {
  const odd = String.fromCharCode(byte)
  return [
    length(`${byteName(byte)} before a length`, ` ${odd}4`),
    length(`${byteName(byte)} after a length`, ` 4${odd}`),
    [`${byteName(byte)} after the name of a length`, 400, post([`Content-Length${odd}: 4`], 'abcd')],
  ]
})

export const LENGTHS: readonly Refused[] = [
  length('an empty length', ''),
  length('a length of white space', ' \t'),
  length('a plus sign', ' +4'),
  length('a minus sign', ' -4'),
  length('minus zero', ' -0'),
  length('a hexadecimal length', ' 0x4'),
  length('a hexadecimal letter', ' a'),
  length('an octal mark', ' 0o4'),
  length('a fraction', ' 4.0'),
  length('an exponent', ' 4e0'),
  length('a separator of thousands', ' 4_0'),
  length('a space within', ' 4 0'),
  length('a length in quotes', ' "4"'),
  length('a list of equal lengths', ' 4, 4'),
  length('a list of different lengths', ' 0, 4'),
  length('a list without a space', ' 4,4'),
  length('a comma after', ' 4,'),
  length('a comma before', ' ,4'),
  length('a parameter', ' 4;x'),
  length('a word after', ' 4 bytes'),
  length('letters', ' four'),
  length('16 digits', ' 0000000000000004'),
  length('2^64 + 4', ' 18446744073709551620'),
  length('2^63', ' 9223372036854775808'),
  length('a length beyond all numbers', ` ${'9'.repeat(400)}`),
  length('a folded length', '\r\n 4'),
  length('a length that goes on', ' 4\r\n 0'),
  length('a length after LF', '\n4'),
  ['two equal lengths', 400, post(['Content-Length: 4', 'Content-Length: 4'], 'abcd')],
  ['two lengths, the first less', 400, post(['Content-Length: 0', 'Content-Length: 4'], 'abcd')],
  ['two lengths, the last less', 400, post(['Content-Length: 4', 'content-length: 0'], 'abcd')],
  ['two lengths of another spelling', 400, post(['Content-Length: 4', 'Content-Length: 04'], 'abcd')],
  ['two lengths apart', 400, post(['Content-Length: 4', 'X: y', 'CONTENT-LENGTH: 4'], 'abcd')],
  [
    'two lengths that Connection names',
    400,
    post(['Connection: content-length', 'Content-Length: 4', 'Content-Length: 0'], 'abcd'),
  ],
  ['a good length and an empty one', 400, post(['Content-Length: 4', 'Content-Length:'], 'abcd')],
  ['a space before the colon of a length', 400, post(['Content-Length : 4'], 'abcd')],
  ['a tab before the colon of a length', 400, post(['Content-Length\t: 4'], 'abcd')],
  ['an indented length', 400, post(['X: y', ' Content-Length: 4'], 'abcd')],
  ['a bad length of a GET', 400, get('Content-Length: x')],
  ...sweeps,
]

export const COUNTED: readonly Served[] = [
  {
    what: 'a length with an underscore beside one without',
    bytes: post(['Content_Length: 0', 'Content-Length: 4'], 'abcd'),
    read: [['POST /', 'abcd']],
    gone: /Content_Length/,
  },
  {
    what: 'only a length with an underscore',
    bytes: `POST / HTTP/1.1\r\n${H}\r\ncontent_length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    read: [
      ['POST /', ''],
      ['GET /smuggled', ''],
    ],
    gone: /content_length/,
  },
  {
    what: 'leading zeros',
    bytes: post(['Content-Length: 0000004'], 'abcd'),
    read: [['POST /', 'abcd']],
  },
  {
    what: 'tabs around a length',
    bytes: post(['Content-Length:\t4\t '], 'abcd'),
    read: [['POST /', 'abcd']],
    kept: /\r\nContent-Length: 4\r\n/,
  },
  {
    what: 'a length and a host that Connection names',
    bytes: post(['Connection: content-length, host, Content-Length', 'Content-Length: 4'], 'abcd'),
    read: [['POST /', 'abcd']],
    kept: /Host: app\.test\r\n[^]*Content-Length: 4\r\n/,
  },
]
