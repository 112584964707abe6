import { afterAll, beforeAll, expect, test } from 'vitest'
import { divide } from '#daemon/instances/shares.ts'
import type { InstanceStatus } from '#server/instances/states.ts'
import type { InstanceRow } from '#server/instances/store.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

let close: () => Promise<void>
let drained: string
beforeAll(async () => {
  ;({ close } = await openContext())
  drained = addNode('drained', { availability: 'drain' })
})
afterAll(() => close())

const instance = (id: string, nodeId: string, status: InstanceStatus = 'ready') =>
  ({ id, node_id: nodeId, status }) as InstanceRow

/** The ids of those that are kept, that stay for now, and that go. */
function shares(instances: InstanceRow[], wanted: number, hasDisks = false): string[][] {
  const { kept, leaving, surplus } = divide(instances, wanted, () => hasDisks)
  return [kept, leaving, surplus].map((rows) => rows.map(({ id }) => id))
}

test('more than the wanted number are surplus', () => {
  const own = ownNodeId()
  expect(shares([instance('a', own), instance('b', own)], 1)).toEqual([['a'], [], ['b']])
})

test('an instance leaves a drained node once another one is ready in its place', () => {
  const old = instance('old', drained)
  expect(shares([old], 1)).toEqual([[], ['old'], []])
  expect(shares([old, instance('new', ownNodeId(), 'starting')], 1)).toEqual([['new'], ['old'], []])
  expect(shares([old, instance('new', ownNodeId())], 1)).toEqual([['new'], [], ['old']])
})

test('of several that leave, those that serve stay longest', () => {
  const old = [instance('down', drained, 'down'), instance('old', drained), instance('older', drained)]
  const ready = instance('new', ownNodeId())
  expect(shares([...old, ready, instance('next', ownNodeId(), 'starting')], 2)).toEqual([
    ['new', 'next'],
    ['old'],
    ['older', 'down'],
  ])
})

test('an instance with a disk does not leave, and none stays that is not wanted', () => {
  expect(shares([instance('bound', drained)], 1, true)).toEqual([['bound'], [], []])
  expect(shares([instance('old', drained)], 0)).toEqual([[], [], ['old']])
})
