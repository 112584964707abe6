import { array, assert, boolean, constantFrom, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { fieldOf, type Field } from '../../../proxy/http2/field.ts'
import { RequestHeads } from '../../../proxy/http2/request-heads.ts'
import { SEED } from './fuzz.ts'

const RUNS = 200

/** Fields as a table has them: the same objects each time. */
const BEGINNINGS = [
  [fieldOf(':method', 'GET'), fieldOf(':scheme', 'https'), fieldOf(':authority', 'app.test')],
  [fieldOf(':method', 'POST'), fieldOf(':scheme', 'https'), fieldOf(':authority', 'app.test')],
  [fieldOf(':method', 'OPTIONS'), fieldOf(':scheme', 'https')],
  [fieldOf(':method', 'CONNECT'), fieldOf(':protocol', 'websocket'), fieldOf(':scheme', 'https')],
]
const PATHS = ['/', '/a?b=c', '*', '', 'no path', `/${'long/'.repeat(2_000)}`].map((path) =>
  fieldOf(':path', path),
)
const OTHERS = [
  fieldOf('cookie', 'a=b'),
  fieldOf('cookie', 'c=d'),
  fieldOf('host', 'app.test'),
  fieldOf('content-length', '0'),
  fieldOf('content-length', '5'),
  fieldOf('priority', 'u=1, i'),
  fieldOf('te', 'trailers'),
  fieldOf('connection', 'close'),
  fieldOf('x-long', 'x'.repeat(3_000)),
]

const request = tuple(
  constantFrom(...BEGINNINGS),
  constantFrom(...PATHS),
  array(constantFrom(...OTHERS), { maxLength: 2 }),
  boolean(),
)
type Request = [beginning: Field[], path: Field, others: Field[], hasBody: boolean]

/** What a request becomes; a WebSocket's key differs each time. */
function made(heads: RequestHeads, [beginning, path, others, hasBody]: Request) {
  heads.begin()
  for (const field of [...beginning, path, ...others]) heads.take(field)
  const framing = heads.make(hasBody)
  if (!framing) return null
  const { body, length, priority } = framing
  const text = heads.bytes.toString('latin1', 0, heads.length)
  return { body, length, priority, text: text.replace(/key: .*/, 'key') }
}

test('what a connection remembers of the previous request does not change the next', () => {
  assert(
    property(array(request, { maxLength: 4 }), (kinds) => {
      const heads = new RequestHeads()
      for (const [beginning, first, others, hasBody] of kinds) {
        const of = (path: Field, body = hasBody): Request => [beginning, path, others, body]
        // What is repeated is remembered from the second time on.
        const remembered = [of(first), of(first)]
        const paths = PATHS.map((path) => of(path))
        const asked = [...remembered, of(first, !hasBody), ...remembered, ...paths, of(first)]
        for (const one of asked) expect(made(heads, one)).toEqual(made(new RequestHeads(), one))
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
  assert(
    property(array(request, { maxLength: 12 }), (requests) => {
      const heads = new RequestHeads()
      for (const asked of requests) expect(made(heads, asked)).toEqual(made(new RequestHeads(), asked))
    }),
    { seed: SEED, numRuns: RUNS },
  )
})
