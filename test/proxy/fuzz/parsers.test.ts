import { expect, test } from 'vitest'
import { answerFault, requestFault } from './agreement.ts'
import { FUZZ_TIMEOUT_MS, fuzz } from './fuzz.ts'
import type { Seeds } from './mutation.ts'
import { readAnswer, readRequests } from './relay-reader.ts'
import { ANSWER_SEEDS, REQUEST_SEEDS } from './seeds.ts'

/** A slow machine takes longer than the time for so many. */
const FEWEST_CASES = 100

test(
  'every request that the relay accepts is the same request to node, as received and as passed on',
  { timeout: FUZZ_TIMEOUT_MS },
  async () => {
    expect(await fuzz(REQUEST_SEEDS, FEWEST_CASES, requestFault)).toBeGreaterThanOrEqual(FEWEST_CASES)
  },
)

test(
  'every answer that the relay accepts is the same answer to node, as received and as passed on',
  { timeout: FUZZ_TIMEOUT_MS },
  async () => {
    const methods = ['GET', 'GET', 'HEAD', 'POST']
    const cases = await fuzz(ANSWER_SEEDS, FEWEST_CASES, (bytes, cuts, random) =>
      answerFault(random.one(methods), bytes, cuts),
    )
    expect(cases).toBeGreaterThanOrEqual(FEWEST_CASES)
  },
)

test('both readers read the corpus itself in the same way', async () => {
  for (const seed of [...REQUEST_SEEDS.good, ...REQUEST_SEEDS.bad]) {
    expect([seed.toString('latin1'), await requestFault(seed, [])]).toEqual([expect.any(String), null])
  }
  for (const seed of [...ANSWER_SEEDS.good, ...ANSWER_SEEDS.bad]) {
    expect([seed.toString('latin1'), await answerFault('GET', seed, [])]).toEqual([expect.any(String), null])
  }
})

/** Larger seeds would take long: their reading time grows with the square of their size. */
const LARGEST_CUT = 300

test('the corpus is read in the same way wherever it is cut in two', () => {
  const short = (seeds: Seeds) => [...seeds.good, ...seeds.bad].filter(({ length }) => length <= LARGEST_CUT)
  for (const [seeds, read] of [
    [short(REQUEST_SEEDS), readRequests],
    [short(ANSWER_SEEDS), (bytes: Buffer, cuts: readonly number[] = []) => readAnswer('GET', bytes, cuts)],
  ] as const) {
    for (const seed of seeds) {
      const whole = read(seed)
      for (let cut = 1; cut < seed.length; cut++) expect(read(seed, [cut])).toEqual(whole)
    }
  }
})
