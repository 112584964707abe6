import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backupPath } from '#server/backups/files.ts'
import { beginBackup, recordBackupFile, requestBackup } from '#server/backups/operations.ts'
import { spareVolumesOf } from '#server/backups/spare-volumes.ts'
import { getBackup, isBeingRestored } from '#server/backups/store.ts'
import type { Context } from '#server/context.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { getRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import {
  beginTry,
  finishRestoreOrUpgrade,
  giveUpRestoreOrUpgrade,
  restoreBackup,
} from '#server/datastores/restores-and-upgrades.ts'
import { getDatastore, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { diskVolume, recordDiskVolume } from '#server/disks/volume.ts'
import { cancelDatastoreMove, moveDatastore } from '#server/moves/datastores.ts'
import {
  beginMoveTry,
  cancelServiceMove,
  finishServiceMove,
  moveService,
  volumesOf,
} from '#server/moves/services.ts'
import { getMove, isBeingMoved, runningMove } from '#server/moves/store.ts'
import { viewMove } from '#server/moves/view.ts'
import { insertNode, ownNodeId, updateNode, type NodeRow } from '#server/nodes/store.ts'
import { nextEvents } from '#server/notifications/events.ts'
import { createService } from '#server/services/operations.ts'
import { getService } from '#server/services/store.ts'
import { openContext } from '../support/context.ts'

const WORKER = `nod-${'a'.repeat(20)}`

let context: Context
let close: () => Promise<void>
let own: string
beforeEach(async () => {
  ;({ context, close } = await openContext())
  own = ownNodeId()
  insertNode({
    ...context.database.get<NodeRow>('SELECT * FROM nodes')!,
    ...{
      id: WORKER,
      name: 'worker-1',
      is_own: 0,
      swarm_id: 'swarm',
      status: 'ready',
      availability: 'active',
    },
  })
})
afterEach(() => close())

const conflict = (message: RegExp) =>
  expect.objectContaining({ code: 'conflict', message: expect.stringMatching(message) as string })

/** A datastore that answers, on a node. */
function available(node: string): DatastoreRow {
  const { id } = createDatastore({ kind: 'relational', name: 'db', node })
  context.database.run("UPDATE datastores SET status = 'available' WHERE id = ?", id)
  return getDatastore(id)!
}

/** Records a backup with a file. */
async function backUp(of: { id: string; disk?: string }): Promise<string> {
  const { id } = beginBackup(of, 'manual')
  recordBackupFile(getBackup(id)!, { size_bytes: 1, sha256: 'a'.repeat(64) })
  mkdirSync(dirname(backupPath(id)), { recursive: true })
  writeFileSync(backupPath(id), 'x')
  return id
}

describe('a move of a datastore', () => {
  test('fills a new volume on the other node, and keeps the former one for a day', () => {
    const before = available(own)
    expect(moveDatastore(before, { node: 'worker-1', from_backup: false })).toMatchObject({
      status: 'restoring',
      node_id: own,
      volume: before.volume,
    })
    expect(viewMove(getMove(before.id))).toMatchObject({ to_node_name: 'worker-1', status: 'running' })
    const filling = beginTry(getRestoreOrUpgrade(before.id)!)
    expect(isBeingMoved(filling.volume)).toBe(true)
    finishRestoreOrUpgrade(getDatastore(before.id)!, filling, 'sha256:image')
    expect(getDatastore(before.id)).toMatchObject({ node_id: WORKER, volume: filling.volume })
    expect(getMove(before.id)).toMatchObject({ status: 'succeeded', error: null })
    expect(isBeingMoved(filling.volume)).toBe(false)
    const kept = spareVolumesOf(before.id).find(({ volume }) => volume === before.volume)
    expect(kept).toMatchObject({ node_id: own })
    expect(kept!.remove_at).toBeGreaterThan(Date.now())
    expect(nextEvents(10)).toContainEqual(
      expect.objectContaining({ type: 'datastore.moved', subject: before.id, detail: 'worker-1' }),
    )
  })

  test.each([
    [
      'fails',
      (row: DatastoreRow) => giveUpRestoreOrUpgrade(getRestoreOrUpgrade(row.id)!, 'the disk is full'),
    ],
    ['is canceled', (row: DatastoreRow) => void cancelDatastoreMove(row)],
  ])('that %s leaves it where it was', (_, end) => {
    const before = available(own)
    moveDatastore(before, { node: WORKER, from_backup: false })
    const { volume } = beginTry(getRestoreOrUpgrade(before.id)!)
    end(before)
    expect(getDatastore(before.id)).toMatchObject({ node_id: own, volume: before.volume })
    expect(getRestoreOrUpgrade(before.id)).toBeUndefined()
    expect(runningMove(before.id)).toBeUndefined()
    const spares = spareVolumesOf(before.id)
    expect(spares).toContainEqual(expect.objectContaining({ volume, node_id: WORKER, remove_at: 0 }))
    expect(spares.map((spare) => spare.volume)).not.toContain(before.volume)
  })

  test('is refused where it is, while another or a backup runs, and to a node that takes nothing new', () => {
    const row = available(own)
    const move = (node: string) => moveDatastore(row, { node, from_backup: false })
    expect(() => move(own)).toThrow(conflict(/^datastore db is on the node .* already$/))
    updateNode(WORKER, { availability: 'drain' })
    expect(() => move('worker-1')).toThrow(conflict(/worker-1 is drained/))
    updateNode(WORKER, { availability: 'active' })
    const backup = getBackup(beginBackup(row, 'manual').id)!
    expect(() => move('worker-1')).toThrow(conflict(/^the backup .* is running$/))
    recordBackupFile(backup, { size_bytes: 1, sha256: 'a'.repeat(64) })
    move('worker-1')
    expect(() => move('worker-1')).toThrow(conflict(/^datastore db is being moved/))
    expect(() => restoreBackup(row, getBackup(backup.id)!)).toThrow(conflict(/^datastore db is restoring$/))
    cancelDatastoreMove(row)
    expect(() => cancelDatastoreMove(row)).toThrow(conflict(/is not being moved$/))
  })

  test('from a lost node takes the newest backup, only when it is asked to, and another address', async () => {
    const row = available(WORKER)
    recordDatastore(row.id, { address: '10.208.0.16' })
    const move = (from_backup: boolean) => moveDatastore(row, { node: own, from_backup })
    expect(() => move(true)).toThrow(conflict(/worker-1, which answers: move it without from_backup/))
    updateNode(WORKER, { status: 'down' })
    expect(() => move(false)).toThrow(
      conflict(/worker-1, which is down: wait .* or move it with from_backup/),
    )
    expect(() => move(true)).toThrow(conflict(/^there is no backup of datastore db$/))
    const backup = await backUp(row)
    move(true)
    expect(isBeingRestored(backup)).toBe(true)
    finishRestoreOrUpgrade(getDatastore(row.id)!, beginTry(getRestoreOrUpgrade(row.id)!), 'sha256:image')
    expect(getDatastore(row.id)).toMatchObject({ node_id: own, address: null })
  })
})

describe('a move of a service', () => {
  const disks = [
    { name: 'data', mount_path: '/data' },
    { name: 'cache', mount_path: '/cache' },
  ]
  function service(node: string) {
    const { id } = createService({
      name: 'wiki',
      type: 'web_service',
      image: 'busybox:1',
      deploy: false,
      disks,
      node,
    })
    for (const { name } of disks) recordDiskVolume(id, name, diskVolume(id, name))
    return getService(id)!
  }

  test('takes all of its disks, and keeps the former ones for a day', () => {
    const row = service(own)
    const former = disks.map(({ name }) => diskVolume(row.id, name))
    moveService(row, { node: 'worker-1', from_backup: false })
    const begun = beginMoveTry(getMove(row.id)!, ['data', 'cache'])
    const filled = volumesOf(begun)
    expect([...filled.keys()]).toEqual(['data', 'cache'])
    expect(isBeingMoved(filled.get('cache')!)).toBe(true)
    finishServiceMove(begun, filled)
    expect(getService(row.id)).toMatchObject({ node_id: WORKER })
    expect(diskVolume(row.id, 'cache')).toBe(filled.get('cache'))
    const spares = spareVolumesOf(row.id)
    expect(spares.map(({ volume }) => volume).toSorted()).toEqual(former.toSorted())
    expect(spares.every(({ node_id }) => node_id === own)).toBe(true)
    expect(nextEvents(10)).toContainEqual(
      expect.objectContaining({ type: 'service.moved', subject: row.id, detail: 'worker-1' }),
    )
  })

  test('that is canceled leaves it where it was, and gives up what was filled', () => {
    const row = service(own)
    moveService(row, { node: 'worker-1', from_backup: false })
    const filled = volumesOf(beginMoveTry(getMove(row.id)!, ['data', 'cache']))
    cancelServiceMove(row)
    expect(getService(row.id)).toMatchObject({ node_id: own })
    expect(getMove(row.id)).toMatchObject({ status: 'canceled' })
    const spares = spareVolumesOf(row.id)
    expect(spares.map(({ volume }) => volume).toSorted()).toEqual([...filled.values()].toSorted())
    expect(spares.every(({ node_id, remove_at }) => node_id === WORKER && remove_at === 0)).toBe(true)
  })

  test('that begins again gives up what each earlier try has filled', () => {
    const row = service(own)
    moveService(row, { node: 'worker-1', from_backup: false })
    const tries = [1, 2, 3].map(() => volumesOf(beginMoveTry(getMove(row.id)!, ['data'])).get('data'))
    const spares = spareVolumesOf(row.id).map(({ volume }) => volume)
    expect(spares.toSorted()).toEqual(tries.slice(0, 2).toSorted())
  })

  test('is refused without a disk, while a backup runs, and from a lost node without a backup of each', async () => {
    const plain = createService({ name: 'plain', type: 'web_service', image: 'busybox:1', deploy: false })
    expect(() => moveService(plain, { node: 'worker-1', from_backup: false })).toThrow(
      conflict(/^service plain has no disk, so it runs where its placement allows/),
    )
    const row = service(WORKER)
    const move = (from_backup: boolean) => moveService(row, { node: own, from_backup })
    const { id } = beginBackup({ id: row.id, disk: 'data' }, 'manual')
    expect(() => move(false)).toThrow(conflict(/is running$/))
    recordBackupFile(getBackup(id)!, { size_bytes: 1, sha256: 'a'.repeat(64) })
    updateNode(WORKER, { status: 'down' })
    context.database.run("UPDATE services SET live_deploy_id = 'dep-1' WHERE id = ?", row.id)
    await backUp({ id: row.id, disk: 'data' })
    expect(() => move(true)).toThrow(conflict(/^there is no backup of the disk cache of service wiki$/))
    await backUp({ id: row.id, disk: 'cache' })
    move(true)
    expect(getMove(row.id)).toMatchObject({ status: 'running', from_backup: 1 })
    expect(() => requestBackup({ id: row.id, disk: 'data' })).toThrow(
      conflict(/^service wiki is being moved/),
    )
  })
})
