import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { leftovers } from '#daemon/datastores/leftovers.ts'
import type { World } from '#daemon/world.ts'
import { insertSpareVolume, spareVolumesOf } from '#server/backups/spare-volumes.ts'
import { giveUpVolume } from '#server/datastores/restores-and-upgrades-store.ts'
import { ownNodeId } from '#server/nodes/store.ts'
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
  const engineOf = () => ({ volumes: { remove } })
  const world = { reachByAddress: true, engineOf, engines: () => [] } as unknown as World
  const look = leftovers(world, () => false)
  const { signal } = new AbortController()
  giveUpVolume('given-up', STORE)
  const kept = { volume: 'kept', node_id: ownNodeId(), datastore_id: STORE, version: '17' }
  insertSpareVolume({ ...kept, remove_at: Date.now() + DAY_MS })
  await look.run(signal)
  expect(removed).toEqual(['given-up'])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * DAY_MS })
  await look.run(signal)
  expect(removed).toEqual(['given-up'])
  vi.useRealTimers()
  await look.run(signal)
  expect(spareVolumesOf(STORE)).toMatchObject([{ volume: 'kept' }])
})
