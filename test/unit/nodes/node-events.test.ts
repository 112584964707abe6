import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Followers } from '#daemon/engine-events.ts'
import { nodeEvents } from '#daemon/node-events.ts'
import type { World } from '#daemon/world.ts'
import { recentLog } from '#server/log.ts'
import { openContext } from '../../support/context.ts'
import { addNode } from '../../support/nodes.ts'
import { waitFor } from '../../support/wait.ts'

let close: () => Promise<void>
beforeEach(async () => ({ close } = await openContext()))
afterEach(() => close())

test('an engine that does not answer is warned of once, and again for another reason or after it has answered', async () => {
  const nodeId = addNode('worker')
  /** Why its engine does not answer; null while it does, for a moment. */
  let fault: string | null = 'no way'
  const engine = {
    events: async () => {
      if (fault !== null) throw new Error(fault)
      return (async function* () {})()
    },
  }
  const departures = new Map<string, number>()
  const world = { engines: () => [{ nodeId, engine }], departuresOfOthers: departures } as unknown as World
  const nothing = { engineAnswers: () => {}, lookAtAll: () => {} }
  const followers = { instances: nothing, datastores: nothing, serviceLogs: nothing, wakeOthers: () => {} }
  const task = nodeEvents(world, followers as unknown as Followers)
  const stop = new AbortController()
  const before = recentLog('warn', 1_000).length
  const warnings = async (next: string | null): Promise<number> => {
    fault = next
    const attempts = departures.get(nodeId) ?? 0
    await task.run(stop.signal)
    await waitFor(() => departures.get(nodeId) === attempts + 1, 'the end of an attempt')
    return recentLog('warn', 1_000).length - before
  }
  expect(await warnings('no way')).toBe(1)
  expect(await warnings('no way')).toBe(1)
  expect(await warnings('another reason')).toBe(2)
  expect(await warnings(null)).toBe(2)
  expect(await warnings('another reason')).toBe(3)
  stop.abort()
})
