import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultsWithout } from '../../chaos/faults.ts'
import { openRig } from '../../chaos/rig.ts'
import { Chaos } from '../../chaos/run.ts'

/** One without faults, and one with them. */
const STORMS = 2
const ROUNDS = 6
/** `npm run chaos` allows a minute; a machine may be three times as slow. */
const QUIET_MS = 180_000
const SEED = 4
/** The lines that are shown when something is found. */
const LAST_LINES = 30

test('what is acknowledged is kept, everything settles and nothing is left, whatever is killed meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-chaos-calls-'))
  const rig = await openRig(folder)
  try {
    // After the clock was set nothing is cleaned up for a minute.
    const faults = faultsWithout(rig.disk ? ['clock'] : ['clock', 'disk'])
    const goesOn = (storms: number): boolean => storms < STORMS
    const chaos = new Chaos(rig, { seed: SEED, rounds: ROUNDS, quietMs: QUIET_MS, faults, goesOn })
    const report = await chaos.run().catch((error: Error) => {
      rig.keepLog()
      const last = rig.notes.slice(-LAST_LINES).join('\n')
      throw new Error(`seed ${SEED}: ${error.message}\n${last}\nCalls and log: ${folder}`, { cause: error })
    })
    expect(report.acknowledged).toBeGreaterThan(ROUNDS)
    expect(Object.keys(report.faults).length).toBeGreaterThan(1)
  } finally {
    await rig.close()
  }
})
