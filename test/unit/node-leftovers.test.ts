import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { leftovers } from '#daemon/datastores/leftovers.ts'
import { removeStrayHelpers } from '#daemon/disks/helper.ts'
import type { World } from '#daemon/world.ts'
import { insertSpareVolume, spareVolumesOf } from '#server/backups/spare-volumes.ts'
import { messageOf } from '#server/errors.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { allotJobAddress, jobAddressHolders } from '#server/instances/addresses.ts'
import { ledgerOn } from '#server/ledger.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

const STORE = 'dbs-0123456789abcdef0123'
/** As long as the engine of another node may take for an answer. */
const ANSWER_MS = 10_000

let close: () => Promise<void>
let own: string
let hanging: string
let other: string
beforeEach(async () => {
  ;({ close } = await openContext())
  ;[own, hanging, other] = [ownNodeId(), addNode('hanging'), addNode('other')]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await close()
})

/** The engines of three nodes, each with one container, of which one never answers; and what is removed, as `node/name`. */
function threeNodes(left: string): { world: World; removed: string[] } {
  const removed: string[] = []
  const engineOf = (nodeId: string) => {
    const answer = <T>(work: () => T) =>
      nodeId === hanging ? new Promise<T>(() => {}) : Promise.resolve().then(work)
    const remove = (name: string) =>
      answer(() => {
        removed.push(`${nodeId}/${name}`)
        ledgerOn(nodeId).forget('container', name)
      })
    return { containers: { list: () => answer(() => [{ name: left }]), remove }, volumes: { remove } }
  }
  const engines = () => [own, hanging, other].map((nodeId) => ({ nodeId, engine: engineOf(nodeId) }))
  return { world: { reachByAddress: true, engineOf, engines } as unknown as World, removed }
}

test('a node that hangs keeps none of the others from being cleaned up', async () => {
  const { world, removed } = threeNodes('left')
  const fault = removeStrayHelpers(world, () => false).catch(messageOf)
  await vi.advanceTimersByTimeAsync(ANSWER_MS)
  expect(await fault).toMatch(/hanging did not answer/)
  expect(removed).toEqual([`${own}/left`, `${other}/left`])
})

test('work on datastores is removed where it is, and its address kept while it may be on a node that hangs', async () => {
  const names = ['bak-0123456789abcdef0123', `${STORE}-01234567`, `${STORE}-89abcdef-load`] as const
  const { id } = findEnvironment()
  for (const name of names) allotJobAddress(id, '10.208.0.0/20', name)
  for (const [at, node] of [own, hanging].entries()) ledgerOn(node).record('container', names[at]!)
  const { world, removed } = threeNodes(STORE)
  for (const volume of ['spare', 'stuck'])
    insertSpareVolume({
      volume,
      node_id: volume === 'spare' ? other : hanging,
      datastore_id: STORE,
      remove_at: 0,
    })
  const sweep = leftovers(world, () => false)
  const fault = sweep.run(new AbortController().signal).catch(messageOf)
  await vi.advanceTimersByTimeAsync(4 * ANSWER_MS)
  expect(await fault).toMatch(/hanging did not answer/)
  expect(removed).toContain(`${own}/${names[0]}`)
  expect(removed).toContain(`${other}/spare`)
  expect(removed).not.toContain(`${other}/${names[0]}`)
  expect(spareVolumesOf(STORE)).toMatchObject([{ volume: 'stuck' }])
  // The third was never created.
  expect(jobAddressHolders()).toEqual([names[1]])
})
