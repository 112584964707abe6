import { afterEach, beforeEach, expect, test } from 'vitest'
import { assertDiskUnused } from '#daemon/instances/containers.ts'
import { whileStopped } from '#daemon/disks/hold.ts'
import type { Engine } from '#daemon/engine/index.ts'
import { queueSourceDeploy } from '#server/deploys/operations.ts'
import { deleteInstance, insertInstance, newInstanceId } from '#server/instances/store.ts'
import { updateNode } from '#server/nodes/store.ts'
import { createService } from '#server/services/operations.ts'
import { getService, recordService, type ServiceRow } from '#server/services/store.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

/** Long enough for several looks at the instances. */
const LOOKS_MS = 350

let close: () => Promise<void>
let worker: string
let service: ServiceRow
let instance: string
beforeEach(async () => {
  ;({ close } = await openContext())
  worker = addNode('worker')
  const disks = [{ name: 'data', mount_path: '/data' }]
  const { id } = createService({
    name: 'wiki',
    type: 'web_service',
    image: 'busybox:1',
    deploy: false,
    disks,
  })
  recordService(id, { node_id: worker })
  service = getService(id)!
  instance = newInstanceId(id)
  const deploy_id = queueSourceDeploy(service, 'manual').id
  insertInstance({ id: instance, service_id: id, deploy_id, node_id: worker, address: '10.0.0.20' })
})
afterEach(() => close())

/** Begins work on the disk; says whether it has begun by now. */
function hold(givenUp?: string): { done: Promise<void>; hasBegun: () => Promise<boolean> } {
  let begun = false
  const work = async (): Promise<void> => void (begun = true)
  const done = whileStopped(service.id, AbortSignal.timeout(10_000), work, givenUp)
  done.catch(() => {})
  return {
    done,
    hasBegun: () => new Promise((resolve) => setTimeout(() => resolve(begun), LOOKS_MS)),
  }
}

test('work on a disk waits for a program on a node that does not answer now: it may still write', async () => {
  updateNode(worker, { status: 'unreachable' })
  const held = hold()
  expect(await held.hasBegun()).toBe(false)
  deleteInstance(instance)
  await held.done
  expect(await held.hasBegun()).toBe(true)
})

test('the disk of a lost node is not read, even if its engine still answered', async () => {
  updateNode(worker, { status: 'unreachable' })
  const held = hold()
  updateNode(worker, { status: 'down' })
  await expect(held.done).rejects.toThrow(/^the node worker is lost$/)
  expect(await held.hasBegun()).toBe(false)
})

test('a node whose disks are not used any more is not waited for', async () => {
  updateNode(worker, { status: 'unreachable' })
  const held = hold(worker)
  await held.done
  expect(await held.hasBegun()).toBe(true)
})

test.each([
  ['its own container', { name: 'own', isRecorded: true }, null],
  ['no container', null, null],
  [
    'one that was forgotten',
    { name: 'old', isRecorded: true },
    /container old, which is still to be stopped/,
  ],
  [
    'one that is newer',
    { name: 'new', isRecorded: false },
    /newer than this server's data: docker rm -f new$/,
  ],
])('a program starts on a disk that is used by %s: only then', async (_, user, refusal) => {
  const containers = { runningUsers: async () => (user ? [user] : []) }
  const start = assertDiskUnused({ containers } as unknown as Engine, service, 'data', 'own')
  if (refusal) await expect(start).rejects.toThrow(refusal)
  else await start
})
