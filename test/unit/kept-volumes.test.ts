import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { leftovers } from '#daemon/datastores/leftovers.ts'
import type { World } from '#daemon/world.ts'
import {
  giveUpVolume,
  insertSpareVolume,
  spareVolumesOf,
} from '#server/datastores/restores-and-upgrades-store.ts'
import { openContext } from '../support/context.ts'

const DAY_MS = 86_400_000
const STORE = 'dbs-0123456789abcdef0123'

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterEach(() => void vi.useRealTimers())
afterAll(() => close())

test('a volume that is kept for a day survives a clock that was set ahead, and back', async () => {
  const removed: string[] = []
  const remove = async (name: string) => void removed.push(name)
  const world = { reachByAddress: true, engine: { volumes: { remove } } } as unknown as World
  const look = leftovers(world, () => false)
  const { signal } = new AbortController()
  giveUpVolume('given-up', STORE)
  insertSpareVolume({ volume: 'kept', datastore_id: STORE, remove_at: Date.now() + DAY_MS, version: '17' })
  await look.run(signal)
  expect(removed).toEqual(['given-up'])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS })
  await look.run(signal)
  expect(removed).toEqual(['given-up'])
  vi.useRealTimers()
  await look.run(signal)
  expect(spareVolumesOf(STORE)).toMatchObject([{ volume: 'kept' }])
})
