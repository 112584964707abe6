import { beforeEach, describe, expect, test } from 'vitest'
import type { RunningContainer } from '#daemon/engine/container-state.ts'
import { adoptMoved, doubtAbout, type Running } from '#daemon/restore/elsewhere.ts'
import { spareVolumesOf } from '#server/backups/spare-volumes.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { sealSnapshot, UNPLANNED, updateDeploy } from '#server/deploys/store.ts'
import { diskVolume, newDiskVolume, recordDiskVolume } from '#server/disks/volume.ts'
import { setOverlaySubnet, setSubnet } from '#server/environments/store.ts'
import { allotAddress } from '#server/instances/addresses.ts'
import { getInstance, insertInstance, instancesOf, newInstanceId } from '#server/instances/store.ts'
import { ledgerOn } from '#server/ledger.ts'
import { beginMoveTry, moveService } from '#server/moves/services.ts'
import { getMove } from '#server/moves/store.ts'
import { ownNodeId, updateNode } from '#server/nodes/store.ts'
import { findService, patchService } from '#server/services/operations.ts'
import { recordService, type ServiceRow } from '#server/services/store.ts'
import { addNode } from '../support/nodes.ts'
import { live, service, useVariables } from './variables-context.ts'

useVariables()

const DISKS = [
  { name: 'data', mount_path: '/data' },
  { name: 'files', mount_path: '/files' },
]
const SUBNET = '10.77.0.0/20'
const OVERLAY = '10.99.0.0/20'

let first: string
let second: string
let diary: ServiceRow
beforeEach(() => {
  first = addNode('worker-1')
  second = addNode('worker-2')
  service('diary')
  patchService(findService('diary'), { disks: DISKS })
  recordService(findService('diary').id, { node_id: first })
  diary = live(findService('diary'))
  setSubnet(diary.environment_id, SUBNET)
  setOverlaySubnet(diary.environment_id, OVERLAY)
  const limits = { memory_limit_mb: 64, cpu_limit: 0 }
  const snapshot = sealSnapshot({
    ...{ image_id: 'sha256:0', start_command: null, env: {}, secret_files: [], port: 8_080, disks: DISKS },
    ...{ planned: UNPLANNED, is_port_chosen: true, health_check_path: null, pre_deploy_command: null },
    ...limits,
  })
  updateDeploy(diary.live_deploy_id!, { snapshot })
  for (const { name } of DISKS) recordDiskVolume(diary.id, name, `deployer-${diary.id}-${name}`)
  const id = newInstanceId(diary.id)
  const ids = { id, service_id: diary.id, deploy_id: diary.live_deploy_id!, node_id: first }
  insertInstance({ ...ids, address: allotAddress(diary.environment_id, SUBNET, id) })
})

/** A container that the records do not have, by default one of the live deploy's with other volumes. */
function container({
  name = newInstanceId(diary.id),
  deploy = diary.live_deploy_id!,
  volumes = DISKS.map(({ mount_path: path }) => ({ name: newDiskVolume(diary.id), path })),
  createdAt = 1,
  address = '10.99.0.40',
} = {}): RunningContainer {
  const labels = { 'deployer.kind': 'instance', 'deployer.service': diary.id, 'deployer.deploy': deploy }
  return {
    state: {
      ...{ id: name, name, image: 'sha256:0', labels, status: 'running', running: true, paused: false },
      ...{ exitCode: null, oomKilled: false, error: null, address, settings: '', publishedPort: null },
      networks: [{ id: 'overlay', address }],
    },
    isRecorded: false,
    volumes,
    createdAt,
  }
}

function on(lists: Record<string, RunningContainer[]>): Running {
  return new Map(Object.entries(lists))
}

const disks = () => DISKS.map(({ name }) => diskVolume(diary.id, name))
const nodeOf = () => findService('diary').node_id

describe('a service that runs on another node than a restored server recorded', () => {
  test('has its disks there, and goes on running', () => {
    const moved = container()
    const former = disks()
    adoptMoved(on({ [first]: [], [second]: [moved] }))
    expect(nodeOf()).toBe(second)
    expect(disks()).toEqual(moved.volumes.map(({ name }) => name))
    expect(instancesOf(diary.id)).toEqual([
      expect.objectContaining({
        id: moved.state.name,
        node_id: second,
        status: 'ready',
        address: '10.77.0.40',
        upstream_host: '10.99.0.40',
        upstream_port: 8_080,
      }),
    ])
    for (const { name } of moved.volumes) expect(ledgerOn(second).find('volume', name)).toBeDefined()
    expect(ledgerOn(second).find('container', moved.state.name)).toBeDefined()
    expect(spareVolumesOf(diary.id).map(({ volume, node_id }) => [volume, node_id])).toEqual(
      former.map((volume) => [volume, first]),
    )
    // The next address is none of those that were passed over.
    expect(allotAddress(diary.environment_id, SUBNET, 'next')).toBe('10.77.0.41')
  })

  test('leaves before another one starts if it is of a newer deploy', () => {
    const moved = container({ deploy: 'dpl-newer' })
    adoptMoved(on({ [second]: [moved] }))
    expect(nodeOf()).toBe(second)
    expect(instancesOf(diary.id)).toEqual([
      expect.objectContaining({ id: moved.state.name, status: 'draining' }),
    ])
  })

  test('is found by what is left when the path of a disk was changed too', () => {
    const volumes = [
      { name: newDiskVolume(diary.id), path: '/elsewhere' },
      { name: newDiskVolume(diary.id), path: '/files' },
      { name: 'of-the-image', path: '/cache' },
    ]
    adoptMoved(on({ [second]: [container({ volumes })] }))
    expect(disks()).toEqual([volumes[0]!.name, volumes[1]!.name])
  })

  test('was moved last to where its newest instance runs', () => {
    const [older, newer] = [container({ createdAt: 1 }), container({ createdAt: 2, address: '10.99.0.41' })]
    adoptMoved(on({ [ownNodeId()]: [newer], [second]: [older] }))
    expect(nodeOf()).toBe(ownNodeId())
    expect(getInstance(older.state.name)).toBeUndefined()
    expect(getInstance(newer.state.name)).toMatchObject({ status: 'ready' })
  })

  test('came back to its node with other volumes', () => {
    const moved = container()
    adoptMoved(on({ [first]: [moved] }))
    expect(nodeOf()).toBe(first)
    expect(disks()).toEqual(moved.volumes.map(({ name }) => name))
  })

  test('is not moved again by a move that the records have as running', () => {
    const move = moveService(diary, { node: 'worker-2', from_backup: false })
    beginMoveTry(getMove(move.id)!, ['data', 'files'])
    adoptMoved(on({ [second]: [container()] }))
    expect(getMove(diary.id)).toMatchObject({ status: 'succeeded' })
  })

  test('stays where it is recorded if that container has none of its disks, or runs there', () => {
    const recorded = { ...container(), isRecorded: true }
    const same = container({
      volumes: disks().map((name, index) => ({ name, path: DISKS[index]!.mount_path })),
    })
    adoptMoved(on({ [first]: [recorded, same], [second]: [container({ volumes: [] })] }))
    expect(nodeOf()).toBe(first)
    expect(spareVolumesOf(diary.id)).toEqual([])
  })
})

test('a datastore that runs on another node was moved there, whatever the records have of a move', () => {
  const { id, volume } = createDatastore({ kind: 'keyvalue', name: 'cache', node: 'worker-1' })
  const moved = container({ name: id, volumes: [{ name: `${id}-newer`, path: '/data' }] })
  moved.state.labels = { 'deployer.kind': 'datastore' }
  adoptMoved(on({ [second]: [moved] }))
  expect(getDatastore(id)).toMatchObject({ node_id: second, volume: `${id}-newer`, image_id: 'sha256:0' })
  expect(spareVolumesOf(id)).toMatchObject([{ volume, node_id: first }])
})

describe('a node that does not answer', () => {
  test('may run what runs nowhere else, unless it is down', () => {
    expect(doubtAbout(on({ [ownNodeId()]: [], [first]: [] }))).toMatch(/^worker-2 does not answer, .*diary/)
    updateNode(second, { status: 'down' })
    expect(doubtAbout(on({ [ownNodeId()]: [], [first]: [] }))).toBeNull()
  })

  test('is not waited for when everything is seen elsewhere, or has its data there', () => {
    expect(doubtAbout(on({ [ownNodeId()]: [], [first]: [container()] }))).toBeNull()
    expect(doubtAbout(on({ [ownNodeId()]: [], [second]: [] }))).toBeNull()
  })

  test('is not waited for by what is suspended', () => {
    patchService(findService('diary'), { suspended: true })
    expect(doubtAbout(on({ [ownNodeId()]: [], [first]: [] }))).toBeNull()
  })
})
