import { performance } from 'node:perf_hooks'
import { cutsOf, mutate, type Seeds } from './mutation.ts'
import { Random } from './random.ts'

/** How long one suite looks for errors; `DEPLOYER_FUZZ_SECONDS` asks for more. */
const SECONDS = Number(process.env.DEPLOYER_FUZZ_SECONDS ?? 3)
/** The first seed: the same cases each time, so that results depend only on the change; `DEPLOYER_FUZZ_SEED` uses others. */
export const SEED = Number(process.env.DEPLOYER_FUZZ_SEED ?? 1)

/** Time for a fuzz test: what it may take, plus the patience of other tests. */
export const FUZZ_TIMEOUT_MS = SECONDS * 1000 + 60_000

/**
 * Changes seeds for as long as is allowed, or on a busy machine until there were `fewest`, and has `faultOf`
 * check each. Throws at the first fault with how to repeat it; returns the number of cases.
 */
export async function fuzz(
  seeds: Seeds,
  fewest: number,
  faultOf: (bytes: Buffer, cuts: readonly number[], random: Random) => Promise<string | null>,
): Promise<number> {
  const random = new Random(SEED)
  const end = performance.now() + SECONDS * 1000
  let cases = 0
  for (; performance.now() < end || cases < fewest; cases++) {
    const bytes = mutate(random, seeds)
    const cuts = cutsOf(random, bytes.length)
    const fault = await faultOf(bytes, cuts, random)
    if (fault) {
      const text = JSON.stringify(bytes.toString('latin1'))
      throw new Error(
        `case ${cases} of DEPLOYER_FUZZ_SEED=${SEED}: ${fault}\ncut at ${cuts.join(', ')}: ${text}`,
      )
    }
  }
  return cases
}
