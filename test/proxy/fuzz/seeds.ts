import { CHUNKED, SMUGGLED, get, post } from '../smuggling/cases.ts'
import { BAD_ANSWERS, EXCESSES } from '../smuggling/answers.ts'
import type { Seeds } from './mutation.ts'
import { BROKEN, REFUSED, SERVED } from '../smuggling/corpus.ts'

/** Larger seeds are about limits; they would make every case slow. */
const LARGEST_SEED = 2048

const buffers = (texts: readonly string[]): Buffer[] =>
  texts.filter(({ length }) => length <= LARGEST_SEED).map((text) => Buffer.from(text, 'latin1'))

const REQUESTS = [
  get(),
  get('Accept: */*', 'User-Agent: a', 'Cookie: a=b; c=d', 'Accept-Encoding: gzip, br'),
  post(['Content-Type: text/plain', 'Content-Length: 5'], 'hello'),
  post([CHUNKED, 'Trailer: X-Sum'], '5\r\nhello\r\n6;x="y"\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n'),
  post(['Expect: 100-continue', 'Content-Length: 2', 'Connection: x-a, close', 'X-A: 1'], 'ok'),
  get('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: AAAA'),
]

const OK = 'HTTP/1.1 200 OK\r\n'
const ANSWERS = [
  `${OK}Content-Type: text/html\r\nContent-Length: 5\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\nhello`,
  `${OK}Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n`,
  `${OK}Connection: close\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nuntil the end`,
  `HTTP/1.0 200 OK\r\nServer: a\r\n\r\nuntil the end`,
  `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
  'HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 7\r\n\r\n',
  'HTTP/1.1 404 \r\nContent-Length: 1\r\n\r\nx',
  'HTTP/1.1 500\r\nContent-Length: 1\r\n\r\nx',
]

/** What clients may send. */
export const REQUEST_SEEDS: Seeds = {
  good: buffers([
    ...REQUESTS,
    ...REQUESTS.map((request) => request + SMUGGLED),
    ...SERVED.map(({ bytes }) => bytes),
  ]),
  bad: buffers([...REFUSED.map(([, , bytes]) => bytes), ...BROKEN.map(([, body]) => post([CHUNKED], body))]),
}

/** What upstreams may answer. */
export const ANSWER_SEEDS: Seeds = {
  good: buffers([...ANSWERS, ...EXCESSES.map(({ pieces }) => pieces.join(''))]),
  bad: buffers([
    ...BAD_ANSWERS.map(([, bytes]) => bytes),
    ...BROKEN.map(([, body]) => `${OK}Transfer-Encoding: chunked\r\n\r\n${body}`),
  ]),
}
