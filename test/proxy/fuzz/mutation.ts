import type { Random } from './random.ts'

/** Pieces that parsers trip over. */
const WORDS = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\r\r\n',
  ' ',
  '\t',
  '\x0b',
  '\x0c',
  '\0',
  '\x7f',
  '\x80',
  '\xa0',
  '\xff',
  ':',
  ': ',
  ' :',
  ';',
  ',',
  '=',
  '"',
  '\\',
  '_',
  '-',
  '/',
  '*',
  '#',
  '?',
  '@',
  '[',
  ']',
  '+',
  '0',
  '1',
  '9',
  'a',
  'f',
  '0x',
  'GET',
  'POST',
  'HEAD',
  'OPTIONS',
  'GET / HTTP/1.1\r\n',
  ' HTTP/1.1',
  ' HTTP/1.0',
  'HTTP/1.',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 204 \r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  '304',
  '101',
  'Host: app.test\r\n',
  'host:',
  'app.test',
  'http://app.test',
  'https://',
  ':80',
  '[::1]',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length:',
  'content-length',
  'Content_Length: 3\r\n',
  '4294967296',
  '18446744073709551616',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding:',
  'transfer-encoding',
  'Transfer_Encoding: chunked\r\n',
  'chunked',
  'CHUNKED',
  'identity',
  'gzip, chunked',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Connection: upgrade\r\n',
  'Connection: transfer-encoding\r\n',
  'Connection: x, y\r\n',
  'Upgrade: websocket\r\n',
  'Upgrade: h2c\r\n',
  'Keep-Alive: timeout=5\r\n',
  'Expect: 100-continue\r\n',
  'Trailer: X\r\n',
  'TE: trailers\r\n',
  'X-Forwarded-For: 1\r\n',
  'X: y\r\n',
  ' folded\r\n',
  '0\r\n\r\n',
  '3\r\nabc\r\n',
  '5;x=y\r\nabcde\r\n',
  '0\r\nX: y\r\n\r\n',
  ';a="b"',
  'ffffffff',
  '10000000000000000',
].map((word) => Buffer.from(word, 'latin1'))

const MOST_STEPS = 3
/** Longer pieces make cases that only differ in size. */
const LONGEST_PIECE = 48

function spliced(bytes: Buffer, at: number, removed: number, added: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)])
}

function pieceOf(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  return bytes.subarray(at, at + random.below(LONGEST_PIECE))
}

const STEPS: readonly ((random: Random, bytes: Buffer, other: Buffer) => Buffer)[] = [
  // Another byte.
  (random, bytes) => spliced(bytes, random.below(bytes.length), 1, Buffer.from([random.below(256)])),
  // A flipped bit.
  (random, bytes) => {
    const at = random.below(bytes.length)
    return spliced(bytes, at, 1, Buffer.from([bytes[at]! ^ (1 << random.below(8))]))
  },
  // A word inserted, or in place of others.
  (random, bytes) => spliced(bytes, random.below(bytes.length + 1), 0, random.one(WORDS)),
  (random, bytes) => spliced(bytes, random.below(bytes.length + 1), random.below(8), random.one(WORDS)),
  // Less.
  (random, bytes) =>
    spliced(bytes, random.below(bytes.length), 1 + random.below(LONGEST_PIECE), Buffer.alloc(0)),
  (random, bytes) => spliced(bytes, random.below(bytes.length), 1, Buffer.alloc(0)),
  // A piece again, or one of another case.
  (random, bytes) => spliced(bytes, random.below(bytes.length + 1), 0, pieceOf(random, bytes)),
  (random, bytes, other) => spliced(bytes, random.below(bytes.length + 1), 0, pieceOf(random, other)),
  // The first half of one and the second of another.
  (random, bytes, other) =>
    Buffer.concat([
      bytes.subarray(0, random.below(bytes.length)),
      other.subarray(random.below(other.length)),
    ]),
  // A line moved or dropped.
  (random, bytes) => {
    const lines = bytes.toString('latin1').split('\r\n')
    const [line] = lines.splice(random.below(lines.length), 1)
    if (random.below(3) > 0) lines.splice(random.below(lines.length + 1), 0, line!)
    return Buffer.from(lines.join('\r\n'), 'latin1')
  },
]

/** What mutations begin with. */
export interface Seeds {
  good: readonly Buffer[]
  bad: readonly Buffer[]
}

/** One in so many cases begins with a bad seed: a good one is more often still accepted, and so compared, when changed. */
const BAD_ONE_OF = 6

function seedOf(random: Random, { good, bad }: Seeds): Buffer {
  return random.one(random.below(BAD_ONE_OF) === 0 ? bad : good)
}

/** One of the seeds with a few changes. */
export function mutate(random: Random, seeds: Seeds): Buffer {
  let bytes = seedOf(random, seeds)
  for (let steps = random.below(MOST_STEPS); steps >= 0; steps--) {
    bytes = random.one(STEPS)(random, bytes, random.one(random.below(2) === 0 ? seeds.bad : seeds.good))
    if (bytes.length === 0) bytes = seedOf(random, seeds)
  }
  return bytes
}

/** Up to three places to cut so many bytes at, in order. */
export function cutsOf(random: Random, length: number): number[] {
  return Array.from({ length: random.below(4) }, () => random.below(length + 1)).toSorted(
    (one, other) => one - other,
  )
}
