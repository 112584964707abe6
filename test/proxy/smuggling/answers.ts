/** What upstreams must not get through: what is wrong with an answer, and its bytes. */
export type BadAnswer = readonly [what: string, bytes: string]

/** An answer that nobody asked for: it must not reach any client. */
export const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'

const OK = 'HTTP/1.1 200 OK'
const answer = (what: string, fields: string[], body = ''): BadAnswer => [
  what,
  [OK, ...fields, '', body].join('\r\n'),
]
const line = (what: string, statusLine: string): BadAnswer => [
  what,
  `${statusLine}\r\nContent-Length: 2\r\n\r\nok`,
]

const CHUNKED = 'Transfer-Encoding: chunked'
const CHUNKS = `4\r\nevil\r\n0\r\n\r\n${EVIL}`

const CONTROL = [0, 1, 0x0b, 0x0c, 0x1f, 0x7f]

const controls = CONTROL.flatMap((byte): BadAnswer[] => {
  const odd = String.fromCharCode(byte)
  const name = `0x${byte.toString(16)}`
  return [
    line(`${name} in the reason`, `${OK}${odd}`),
    line(`${name} in the version`, `HTTP/1${odd}.1 200 OK`),
    answer(`${name} in a name`, [`X${odd}: y`]),
    answer(`${name} in a value`, [`X: ${odd}`]),
    answer(`${name} before chunked`, [`Transfer-Encoding: ${odd}chunked`], CHUNKS),
    answer(`${name} after a length`, [`Content-Length: 4${odd}`], 'evil'),
  ]
})

export const BAD_ANSWERS: readonly BadAnswer[] = [
  ...controls,
  answer('a length, then chunks', ['Content-Length: 4', CHUNKED], CHUNKS),
  answer('chunks, then a length', [CHUNKED, 'Content-Length: 4'], CHUNKS),
  answer(
    'chunks and a length that Connection names',
    ['Connection: content-length', CHUNKED, 'Content-Length: 4'],
    CHUNKS,
  ),
  answer('two equal lengths', ['Content-Length: 4', 'Content-Length: 4'], 'evil'),
  answer('two different lengths', ['Content-Length: 0', 'content-length: 4'], EVIL),
  answer('a list of lengths', ['Content-Length: 4, 4'], 'evil'),
  answer('a length with a sign', ['Content-Length: +4'], 'evil'),
  answer('a negative length', ['Content-Length: -4'], 'evil'),
  answer('a hexadecimal length', ['Content-Length: 0x4'], 'evil'),
  answer('an empty length', ['Content-Length:'], 'evil'),
  answer('a length of letters', ['Content-Length: four'], 'evil'),
  answer('a length beyond all numbers', ['Content-Length: 99999999999999999999'], 'evil'),
  answer('a length followed by a word', ['Content-Length: 4 bytes'], 'evil'),
  answer('an unknown coding', ['Transfer-Encoding: gzip'], 'evil'),
  answer('a list of codings', ['Transfer-Encoding: gzip, chunked'], CHUNKS),
  answer('chunked twice', [CHUNKED, CHUNKED], CHUNKS),
  answer('chunked twice in a list', ['Transfer-Encoding: chunked, chunked'], CHUNKS),
  answer('xchunked', ['Transfer-Encoding: xchunked'], CHUNKS),
  answer('chunked in quotes', ['Transfer-Encoding: "chunked"'], CHUNKS),
  answer('identity', ['Transfer-Encoding: identity'], 'evil'),
  answer('an empty coding', ['Transfer-Encoding:'], 'evil'),
  ['chunks in HTTP/1.0', `HTTP/1.0 200 OK\r\n${CHUNKED}\r\n\r\n${CHUNKS}`],
  answer('a space before a colon', ['Content-Length : 4'], 'evil'),
  answer('a folded field', ['X: y', ' z'], 'evil'),
  answer('a folded length', ['Content-Length:', ' 4'], 'evil'),
  answer('a folded first field', [' X: y'], 'evil'),
  answer('a line without a colon', ['nonsense'], 'evil'),
  answer('an empty name', [': y'], 'evil'),
  answer('a name with a space', ['X Y: z'], 'evil'),
  answer('a field after a bare LF', ['X: y\nContent-Length: 4'], 'evil'),
  answer('a field after a bare CR', ['X: y\rContent-Length: 4'], 'evil'),
  answer('an empty line of LF', ['X: y\r\n\nevil']),
  ['bare LFs alone', 'HTTP/1.1 200 OK\nContent-Length: 4\n\nevil'],
  ['an answer injected by LFs', `HTTP/1.1 200 OK\r\nX: y\n\n${EVIL}`],
  answer(
    'a Connection field of 101 names',
    [`Connection: ${'x-a,'.repeat(101)}`, 'Content-Length: 4'],
    'evil',
  ),
  answer('a Connection field of no tokens', ['Connection: a b', 'Content-Length: 4'], 'evil'),
  line('an empty line before', `\r\n${OK}`),
  line('a space before', ` ${OK}`),
  line('another protocol', 'ICY 200 OK'),
  line('a lower case protocol', 'http/1.1 200 OK'),
  line('HTTP/2.0', 'HTTP/2.0 200 OK'),
  line('HTTP/1.2', 'HTTP/1.2 200 OK'),
  line('HTTP/0.9', 'HTTP/0.9 200 OK'),
  line('a version of one digit', 'HTTP/1 200 OK'),
  line('a long version', 'HTTP/1.10 200 OK'),
  line('two spaces', 'HTTP/1.1  200 OK'),
  line('a tab', 'HTTP/1.1\t200 OK'),
  line('no status', 'HTTP/1.1 OK'),
  line('a status of two digits', 'HTTP/1.1 20 OK'),
  line('a status of four digits', 'HTTP/1.1 2000 OK'),
  line('a status of letters', 'HTTP/1.1 2OO OK'),
  line('a signed status', 'HTTP/1.1 -20 OK'),
  line('a status below 100', 'HTTP/1.1 099 OK'),
  line('a status stuck to its reason', 'HTTP/1.1 200OK'),
  line('a bare CR in the reason', 'HTTP/1.1 200 O\rK'),
  line('a request in place of an answer', 'GET / HTTP/1.1'),
  ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['no head at all', '<html>evil</html>'],
  [
    '101 that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nevil',
  ],
  [
    '101 after 100',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nevil',
  ],
  answer('a head of over 64 KiB', [`X: ${'a'.repeat(66_000)}`]),
  answer('a head without an end', [`X: ${'a'.repeat(140_000)}`]),
  answer(
    'over 500 fields',
    Array.from({ length: 501 }, () => 'X: y'),
  ),
  ['an interim answer of over 64 KiB', `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(66_000)}\r\n\r\n`],
]

/** Answers that are complete, and more after them: what is requested, the bytes in pieces, and the body for the client. */
export interface Excess {
  what: string
  method?: string
  pieces: readonly string[]
  status: number
  body: string
}

const whole = `${OK}\r\nContent-Length: 2\r\n\r\nok`

export const EXCESSES: readonly Excess[] = [
  { what: 'after a length', pieces: [whole + EVIL], status: 200, body: 'ok' },
  { what: 'after a length, later', pieces: [whole, EVIL], status: 200, body: 'ok' },
  { what: 'after a length, in drips', pieces: [whole, ...EVIL], status: 200, body: 'ok' },
  { what: 'of one byte', pieces: [`${whole}\n`], status: 200, body: 'ok' },
  { what: 'after no length', pieces: [`${OK}\r\nContent-Length: 0\r\n\r\n${EVIL}`], status: 200, body: '' },
  {
    what: 'after chunks',
    pieces: [`${OK}\r\n${CHUNKED}\r\n\r\n2\r\nok\r\n0\r\n\r\n${EVIL}`],
    status: 200,
    body: '2\r\nok\r\n0\r\n\r\n',
  },
  {
    what: 'after chunks, later',
    pieces: [`${OK}\r\n${CHUNKED}\r\n\r\n2\r\nok\r\n`, `0\r\n\r\n${EVIL}`],
    status: 200,
    body: '2\r\nok\r\n0\r\n\r\n',
  },
  { what: 'after 204', pieces: [`HTTP/1.1 204 No Content\r\n\r\n${EVIL}`], status: 204, body: '' },
  {
    what: 'of the length that 204 announces',
    pieces: [`HTTP/1.1 204 No Content\r\nContent-Length: ${EVIL.length}\r\n\r\n${EVIL}`],
    status: 204,
    body: '',
  },
  {
    what: 'of the chunks that 204 announces',
    pieces: [`HTTP/1.1 204 No Content\r\n${CHUNKED}\r\n\r\n${CHUNKS}`],
    status: 204,
    body: '',
  },
  {
    what: 'after 304',
    pieces: [`HTTP/1.1 304 Not Modified\r\nContent-Length: ${EVIL.length}\r\n\r\n${EVIL}`],
    status: 304,
    body: '',
  },
  {
    what: 'of the chunks that 304 announces',
    pieces: [`HTTP/1.1 304 Not Modified\r\n${CHUNKED}\r\n\r\n${CHUNKS}`],
    status: 304,
    body: '',
  },
  {
    what: 'as the body of an answer to HEAD',
    method: 'HEAD',
    pieces: [`${OK}\r\nContent-Length: ${EVIL.length}\r\n\r\n${EVIL}`],
    status: 200,
    body: '',
  },
  {
    what: 'as chunks in answer to HEAD',
    method: 'HEAD',
    pieces: [`${OK}\r\n${CHUNKED}\r\n\r\n${CHUNKS}`],
    status: 200,
    body: '',
  },
  {
    what: 'as a body without a length in answer to HEAD',
    method: 'HEAD',
    pieces: [`${OK}\r\n\r\n${EVIL}`],
    status: 200,
    body: '',
  },
]
