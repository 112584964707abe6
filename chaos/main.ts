// npm run chaos -- [--minutes 20] [--seed N] [--without disk,clock] [--kill-engine]: random calls against a server on the test
// stand's engine while everything around it fails (docs/reliability.md).
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median } from '../bench/lib/figures.ts'
import { countLeases, startStand } from '../test/stand/index.ts'
import { ROOT } from '../test/support/sources.ts'
import { ENGINE_CRASH, FAULT_KINDS, faultsWithout, type FaultKind } from './faults.ts'
import { Finding } from './finding.ts'
import { openRig, type Rig } from './rig.ts'
import { Chaos, type Report } from './run.ts'

const MINUTE_MS = 60_000
const ROUNDS = 12
/** Nothing may take longer to settle. */
const QUIET_MS = 60_000
/** The lines that are printed with what was found. */
const LAST_LINES = 30
const SEEDS = 100_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % SEEDS) },
    without: { type: 'string', default: '' },
    'kill-engine': { type: 'boolean', default: false },
  },
})
const seed = whole('seed', values.seed)
const minutes = whole('minutes', values.minutes)
const without = kinds(values.without)
const folder = join(ROOT, '.cache', 'chaos', String(seed))
rmSync(folder, { recursive: true, force: true })

const stand = await startStand()
process.env.DEPLOYER_TEST_DOCKER_HOST = stand.dockerHost
try {
  if (values['kill-engine'] && countLeases() > 1)
    refuse('others use the test stand, whose engine --kill-engine would kill: wait until they are done')
  const rig = await openRig(folder)
  try {
    await runOn(rig)
  } finally {
    rig.keepLog()
    await rig.close()
  }
} finally {
  await stand.stop()
}

async function runOn(rig: Rig): Promise<void> {
  console.log(`chaos: seed ${seed}, ${minutes} minutes; calls and log are kept in ${folder}`)
  if (!rig.disk && !without.includes('disk')) {
    console.log('chaos: no file system can be mounted here, so the disk is never full')
    without.push('disk')
  }
  const faults = [...faultsWithout(without), ...(values['kill-engine'] ? [ENGINE_CRASH] : [])]
  const until = performance.now() + minutes * MINUTE_MS
  const goesOn = (): boolean => performance.now() < until
  const chaos = new Chaos(rig, { seed, rounds: ROUNDS, quietMs: QUIET_MS, faults, goesOn })
  try {
    await chaos.run()
    print(chaos.report)
    console.log('chaos: nothing was found')
  } catch (error) {
    print(chaos.report)
    console.log(rig.notes.slice(-LAST_LINES).join('\n'))
    const what = error instanceof Finding ? error.message : String((error as Error).stack)
    console.log(`\nchaos: found with seed ${seed}: ${what}\nCalls and log: ${folder}`)
    process.exitCode = 1
  }
}

function print({ quiet, faults, failures, ...calls }: Report): void {
  const count = Object.values(faults).reduce((sum, times) => sum + times, 0)
  console.log(`calls: ${JSON.stringify(calls)}`)
  console.log(`${count} faults: ${JSON.stringify(faults)}`)
  console.log(`failed because of them: ${JSON.stringify(failures)}`)
  const seconds = quiet.map((each) => each.toFixed(1)).join(', ')
  const [middle, longest] = quiet.length === 0 ? [0, 0] : [median(quiet), Math.max(...quiet)]
  console.log(`quiet after ${seconds} s; median ${middle.toFixed(1)}, longest ${longest.toFixed(1)} s`)
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value <= 0)
    refuse(`--${name} must be a whole number above 0, not ${text}`)
  return value
}

function kinds(text: string): FaultKind[] {
  const given = text === '' ? [] : text.split(',')
  const bad = given.find((kind) => !FAULT_KINDS.some((known) => known === kind))
  if (bad !== undefined) refuse(`--without knows ${FAULT_KINDS.join(', ')}, not ${bad}`)
  return given as FaultKind[]
}

function refuse(why: string): never {
  console.error(`chaos: ${why}`)
  process.exit(1)
}
