import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { runToEnd, type RunEnd } from '#daemon/jobs/run-to-end.ts'
import type { World } from '#daemon/world.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { ownNodeId, updateNode } from '#server/nodes/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterAll(() => close())

/** How the end of a run is reported whose first wait failed, followed by so many failed checks. */
async function endAfter(
  looksInVain: number,
  nodeId = ownNodeId(),
  onLook: () => void = () => {},
): Promise<RunEnd | undefined> {
  let isCut = false
  const containers = {
    inspect: async () => {
      if (isCut && looksInVain-- > 0) {
        onLook()
        throw new Error('connect ECONNREFUSED')
      }
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
  const engine = { containers, output, answers, info: async () => ({}) }
  const world = {
    ...{ engine, engineOf: () => engine, engineDepartures: 0, departuresOfOthers: new Map() },
  } as unknown as World
  let ended: RunEnd | undefined
  const run = {
    logId: 'job_1',
    nodeId,
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

test('a run on another node that cannot be reached any more is given up in time, one on the own node is not', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const nodeId = addNode('worker', { status: 'unreachable' })
  const failsAfter = (looksInVain: number, node: string) =>
    endAfter(looksInVain, node, () => vi.advanceTimersByTime(300_001))
  await expect(failsAfter(Infinity, nodeId)).rejects.toMatchObject({
    code: 'runtime_error',
    message: 'the node worker on which it ran could not be reached for 5 minutes: run it again',
  })
  updateNode(nodeId, { status: 'down' })
  await expect(failsAfter(Infinity, nodeId)).rejects.toThrow('the node worker on which it ran is lost')
  expect(await failsAfter(2, ownNodeId())).toMatchObject({ exitCode: 1 })
})

/** How a run ended if only its timeout was noticed; it may have ended by itself before. */
async function endWhenLate(running: boolean): Promise<{ end: RunEnd | undefined; killed: string[] }> {
  const killed: string[] = []
  const containers = {
    inspect: async () => ({
      status: running ? 'running' : 'exited',
      running,
      exitCode: running ? null : 0,
      oomKilled: false,
    }),
    wait: async (_: string, signal: AbortSignal) => {
      if (!signal.aborted) await once(signal, 'abort')
      throw signal.reason
    },
    kill: async (name: string) => {
      running = false
      killed.push(name)
    },
    remove: async () => {},
  }
  const output = { async *logs() {} }
  const log = { flushed: async () => {}, ready: async () => {}, write: () => {}, system: () => {} }
  const engine = { containers, output, answers: async () => true }
  const world = {
    ...{ engine, engineOf: () => engine, engineDepartures: 0, departuresOfOthers: new Map() },
  } as unknown as World
  let ended: RunEnd | undefined
  const run = {
    logId: 'job_2',
    nodeId: ownNodeId(),
    launch: () => Promise.reject(new Error('it is there already')),
    name: 'job_2',
    kind: 'job',
    command: null,
    timeoutMs: 1,
    recordEnd: async (end: RunEnd) => void (ended = end),
  } as const
  await runToEnd(world, run, log as unknown as LogWriter, new AbortController().signal)
  return { end: ended, killed }
}

test('a run that ended in time, which is noticed only afterwards, is not late', async () => {
  const { end, killed } = await endWhenLate(false)
  expect(end).toMatchObject({ exitCode: 0, timedOut: false })
  expect(killed).toEqual([])
})

test('a run whose time is over is killed', async () => {
  const { end, killed } = await endWhenLate(true)
  expect(end).toMatchObject({ exitCode: null, timedOut: true })
  expect(killed).toEqual(['job_2'])
})
