import { expect, test } from 'vitest'
import { RequestSums, type KeptSums } from '#daemon/metrics/request-sums.ts'
import type { Counts } from '#proxy/protocol.ts'

const START = Date.parse('2026-01-01T00:00:00Z')

/** What a data plane says that has answered so many requests of `app`, each in a second. */
function counts(incarnation: string, answered: number, startedAt = START): Counts {
  const app = {
    ...{ status_2xx: answered, status_3xx: 0, status_4xx: 0, status_5xx: 0 },
    ...{ latency_buckets: [0, answered], latency_sum_seconds: answered },
  }
  return {
    ...{ incarnation, started_at: new Date(startedAt).toISOString(), targets: { app } },
    ...{ open_connections: 0, open_requests: 0 },
  }
}

/** The requests of `app`, by which all of its figures are the same. */
function answered(total: Pick<Counts, 'targets'> | null): number {
  const { status_2xx: sum, latency_buckets: buckets, latency_sum_seconds: seconds } = total!.targets.app!
  expect([buckets, seconds]).toEqual([[0, sum], sum])
  return sum
}

const entry = (said: Counts | null) => new Map([['nod-1', said]])

test('of a single data plane, the sum is what that says', () => {
  const sums = new RequestSums()
  for (const said of [counts('a', 7), counts('b', 2)]) expect(sums.total(said, new Map(), START)).toBe(said)
})

test('it never goes down, and grows by what was answered', () => {
  const sums = new RequestSums()
  const total = (own: Counts, other: Counts | null) => answered(sums.total(own, entry(other), START))
  expect(total(counts('a', 100), counts('x', 10))).toBe(110)
  expect(total(counts('a', 110), counts('x', 12))).toBe(122)
  // The entry, and then the own data plane, is started again.
  expect(total(counts('a', 110), counts('y', 3))).toBe(125)
  expect(total(counts('b', 4), counts('y', 3))).toBe(129)
  // It does not answer for a while.
  expect(total(counts('b', 4), null)).toBe(129)
  expect(total(counts('b', 4), counts('y', 9))).toBe(135)
  // It is no entry any more.
  expect(answered(sums.total(counts('b', 5), new Map(), START))).toBe(136)
})

test('what counts it has is told as one data plane that goes on', () => {
  const sums = new RequestSums()
  const incarnations = [
    sums.total(counts('a', 1), new Map(), START),
    sums.total(counts('a', 1), entry(counts('x', 1)), START),
    sums.total(counts('b', 1), entry(counts('y', 1)), START),
    sums.total(counts('b', 1), new Map(), START),
  ].map((total) => total?.incarnation)
  expect(incarnations).toEqual(['a', 'a', 'a', 'a'])
})

test('it goes on after a start of the server', () => {
  let sums = new RequestSums()
  const restart = () => (sums = new RequestSums(JSON.parse(JSON.stringify(sums.kept)) as KeptSums))
  const total = (own: Counts, other: Counts | null) => answered(sums.total(own, entry(other), START))
  expect(total(counts('a', 100), counts('x', 10))).toBe(110)
  expect(total(counts('a', 100), counts('y', 3))).toBe(113)
  restart()
  // The entry is reached later than the own data plane.
  expect(total(counts('a', 101), null)).toBe(114)
  expect(total(counts('a', 101), counts('y', 5))).toBe(116)
  restart()
  // The machine was started again, and the entry too.
  expect(total(counts('b', 1), counts('z', 1))).toBe(118)
  restart()
  // It is no entry any more.
  expect(answered(sums.total(counts('b', 2), new Map(), START))).toBe(119)
  expect(sums.kept?.incarnation).toBe('a')
})

test('what an entry does not tell any more is not taken back', () => {
  const sums = new RequestSums()
  sums.total(counts('a', 1), entry(counts('x', 10)), START)
  expect(answered(sums.total(counts('a', 1), entry({ ...counts('x', 0), targets: {} }), START))).toBe(11)
})

test('what is gone is forgotten, and what a node has counted is not', () => {
  const sums = new RequestSums()
  sums.total(counts('a', 5), entry(counts('x', 10)), START)
  sums.forget(
    () => true,
    () => false,
  )
  expect(Object.keys(sums.kept!.planes)).toEqual(['own'])
  expect(answered(sums.total(counts('a', 6), new Map(), START))).toBe(16)
  sums.forget(
    () => false,
    () => false,
  )
  expect(sums.kept!.ended).toEqual({})
})

test('what an entry counted before it was followed is in the sum from its beginning, or never', () => {
  const earlier = START - 1_000
  const began = new RequestSums()
  expect(answered(began.total(counts('a', 100), entry(counts('x', 50, earlier)), START))).toBe(150)

  const late = new RequestSums()
  expect(answered(late.total(counts('a', 100, earlier), entry(null), START))).toBe(100)
  expect(
    answered(late.total(counts('a', 100, earlier), entry(counts('x', 50, earlier)), START + 10_000)),
  ).toBe(100)
  expect(
    answered(late.total(counts('a', 100, earlier), entry(counts('x', 51, earlier)), START + 20_000)),
  ).toBe(101)
  // One that was made since has counted nothing else.
  const made = new Map([
    ...entry(counts('x', 51, earlier)),
    ['nod-2', counts('z', 5, START + 25_000)] as const,
  ])
  expect(answered(late.total(counts('a', 100, earlier), made, START + 30_000))).toBe(106)
})
