import { afterAll, beforeAll, expect, test } from 'vitest'
import { runToEnd, type RunEnd } from '#daemon/jobs/run-to-end.ts'
import type { World } from '#daemon/world.ts'
import type { LogWriter } from '#server/log-files.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterAll(() => close())

/** How a run is told to have ended by itself whose first wait failed, with so many looks in vain after that. */
async function endAfter(looksInVain: number): Promise<RunEnd | undefined> {
  let isCut = false
  const containers = {
    inspect: async () => {
      if (isCut && looksInVain-- > 0) throw new Error('connect ECONNREFUSED')
      return { status: isCut ? 'exited' : 'running', running: !isCut }
    },
    wait: async () => {
      if (isCut) return { exitCode: 1, oomKilled: false }
      isCut = true
      throw new Error('socket hang up')
    },
    remove: async () => {},
  }
  const output = { async *logs() {} }
  const log = { flushed: async () => {}, ready: async () => {}, write: () => {}, system: () => {} }
  const answers = async () => true
  const world = { engine: { containers, output, answers }, engineDepartures: 0 } as unknown as World
  let ended: RunEnd | undefined
  const run = {
    logId: 'job_1',
    launch: () => Promise.reject(new Error('it is there already')),
    name: 'job_1',
    kind: 'job',
    command: null,
    timeoutMs: 60_000,
    recordEnd: async (end: RunEnd) => void (ended = end),
  } as const
  await runToEnd(world, run, log as unknown as LogWriter, new AbortController().signal)
  return ended
}

test('a run that ended while the connection to the engine was cut ended by itself', async () => {
  expect(await endAfter(0)).toMatchObject({ exitCode: 1, engineWasAway: false })
})

test('a run that ended while the engine did not answer ended with it', async () => {
  expect(await endAfter(1)).toMatchObject({ exitCode: 1, engineWasAway: true })
})
