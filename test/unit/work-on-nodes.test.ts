import { beforeEach, describe, expect, test } from 'vitest'
import { untilNodesAreKnown } from '#daemon/deploys/unreachable.ts'
import { servicesToReconcile } from '#daemon/instances/out-of-step.ts'
import { placeOfRun } from '#daemon/jobs/place.ts'
import type { World } from '#daemon/world.ts'
import { UNPLANNED, sealSnapshot, updateDeploy, type Snapshot } from '#server/deploys/store.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { getInstance, insertInstance, newInstanceId } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { ownNodeId, updateNode } from '#server/nodes/store.ts'
import { findService, patchService } from '#server/services/operations.ts'
import { observeService, type ServiceRow } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'
import { addNode } from '../support/nodes.ts'
import { live, service, useVariables } from './variables-context.ts'

useVariables()

const DISKS = [{ name: 'data', mount_path: '/data' }]
const SNAPSHOT: Snapshot = {
  ...{ image_id: 'sha256:0', start_command: null, env: {}, secret_files: [], port: null, disks: [] },
  ...{ planned: UNPLANNED, is_port_chosen: true, health_check_path: null, pre_deploy_command: null },
  ...{ memory_limit_mb: 64, cpu_limit: 0 },
}

let worker: string
beforeEach(() => {
  worker = addNode('worker-1')
})

/** A service whose live deploy has these disks, with a ready instance on the worker. */
function running(disks: Snapshot['disks']): { api: ServiceRow; instance: string } {
  service('api')
  const api = live(findService('api'))
  updateDeploy(api.live_deploy_id!, { snapshot: sealSnapshot({ ...SNAPSHOT, disks }) })
  const instance = newInstanceId(api.id)
  const ids = { id: instance, service_id: api.id, deploy_id: api.live_deploy_id!, node_id: worker }
  insertInstance({ ...ids, address: '10.0.0.20' })
  tryMove(instanceMachine, instance, 'ready')
  return { api, instance }
}

/** What the tasks see of nodes of which none but the own one can be reached. */
function worldWith(reached: readonly string[]): World {
  const engine = { answers: async () => true, images: { inspect: async () => null } }
  const engineOf = (id: string) => {
    if (id !== ownNodeId() && !reached.includes(id)) throw new Error('no way')
    return engine
  }
  return { engine, engineOf, machines: { engineOf } } as unknown as World
}

describe('on a node that is drained', () => {
  /** The services to look at when nothing but the drain is new. */
  function outOfStep(): string[] {
    const { id } = findService('api')
    observeService(id, findService('api').generation, null)
    return servicesToReconcile(new Map(), new Set(), () => false)
  }

  test('an instance stays with the disks that it has, whatever its service is to have by now', () => {
    running(DISKS)
    updateNode(worker, { availability: 'drain' })
    expect(outOfStep()).toEqual([])
  })

  test('an instance without disks leaves, even if its service is to have one', () => {
    const { api } = running([])
    patchService(api, { disks: DISKS })
    expect(outOfStep()).toEqual([])
    updateNode(worker, { availability: 'drain' })
    expect(outOfStep()).toEqual([api.id])
  })

  test('no run begins, although the live instance is there', async () => {
    const { api } = running([])
    const world = worldWith([worker])
    expect(await placeOfRun(world, api, 'sha256:0')).toBe(worker)
    updateNode(worker, { availability: 'drain' })
    expect(await placeOfRun(world, api, 'sha256:0')).toBe(ownNodeId())
  })
})

describe('a deploy that was interrupted', () => {
  const wait = (api: ServiceRow, reached: readonly string[], said: string[]) => {
    const log = { system: (line: string) => said.push(line) } as unknown as LogWriter
    const { signal } = new AbortController()
    return untilNodesAreKnown(worldWith(reached), api.live_deploy_id!, 60, log, signal)
  }

  test('goes on with what it has started on a node that answers', async () => {
    const { api, instance } = running([])
    const said: string[] = []
    await wait(api, [worker], said)
    expect(said).toEqual([])
    expect(getInstance(instance)).toBeDefined()
  })

  test('gives up what is on a node that stays unreachable, but not a disk', async () => {
    const { api, instance } = running([])
    const said: string[] = []
    await wait(api, [], said)
    expect(said).toEqual([
      'waiting for the node worker-1',
      expect.stringMatching(/^the node worker-1 could not be reached for .* minutes; starting elsewhere/),
    ])
    expect(getInstance(instance)).toBeUndefined()
  })

  test('fails where a disk is there', async () => {
    const { api, instance } = running(DISKS)
    await expect(wait(api, [], [])).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('the disk is there: deploy again once it is back'),
    })
    expect(getInstance(instance)).toBeDefined()
  })
})
