import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applyFile } from '#server/blueprints/apply.ts'
import { exportBlueprint } from '#server/blueprints/export.ts'
import { readBlueprint } from '#server/blueprints/read.ts'
import type { Context } from '#server/context.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { queueSourceDeploy } from '#server/deploys/operations.ts'
import { listDeploys } from '#server/deploys/store.ts'
import { PRODUCTION } from '#server/environments/production.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { newId } from '#server/ids.ts'
import { allInstances, insertInstance, newInstanceId } from '#server/instances/store.ts'
import { ledger } from '#server/ledger.ts'
import { freeNodeName } from '#server/nodes/names.ts'
import { assertRemovable, forgetNode, patchNode } from '#server/nodes/operations.ts'
import { allows, placementOf } from '#server/nodes/placement-setting.ts'
import { findNode, getNode, insertNode, ownNodeId, updateNode, type NodeRow } from '#server/nodes/store.ts'
import { noteStuck } from '#server/nodes/stuck.ts'
import { viewNode } from '#server/nodes/view.ts'
import { emitEvent, nextEvents } from '#server/notifications/events.ts'
import { messageOf } from '#server/notifications/messages.ts'
import { ServiceInput, ServicePatch } from '#server/services/input.ts'
import { createService, findService, patchService } from '#server/services/operations.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'
import { openContext } from '../support/context.ts'

const GIB = 1024 ** 3

let context: Context
let close: () => Promise<void>
beforeEach(async () => {
  ;({ context, close } = await openContext())
})
afterEach(() => close())

/** Another machine, ready if nothing else is said. */
function join(name: string, more: Partial<NodeRow> = {}): NodeRow {
  const id = newId('node')
  insertNode({
    ...{
      id,
      name,
      is_own: 0,
      swarm_id: name,
      address: '10.0.0.2',
      labels: '{}',
      status: 'ready',
      reason: null,
    },
    ...{ availability: 'active', drain_total: null, engine_version: null, architecture: 'amd64', cpus: 2 },
    ...{
      memory_bytes: 2 * GIB,
      disk_free_bytes: null,
      last_seen_at: null,
      joined_at: 0,
      created_at: 0,
      ...more,
    },
  })
  return getNode(id)!
}

const own = () => getNode(ownNodeId())!
const make = (name: string, more: object = {}) =>
  createService(ServiceInput.parse({ name, image: 'busybox:1', deploy: false, ...more }))
const patch = (service: ServiceRow, fields: object) =>
  patchService(getService(service.id)!, ServicePatch.parse(fields))
const conflict = (message: RegExp | string) =>
  expect.objectContaining({ code: 'conflict', message: expect.stringMatching(message) as string })

/** Makes an instance of a service on a node, as a rollout would. */
function run(service: ServiceRow, node: NodeRow): string {
  const id = newInstanceId(service.id)
  const deploy = listDeploys(service.id, 1)[0] ?? queueSourceDeploy(service, 'manual')
  const address = `10.0.0.${allInstances().length + 20}`
  insertInstance({ id, service_id: service.id, deploy_id: deploy.id, node_id: node.id, address })
  return id
}

test.each([
  ['prod-1.example.com', 'prod-1'],
  ['Büro_PC', 'b-ro-pc'],
  ['10', 'node'],
  ['-9a-', 'a'],
  ['nod-4f1d0c9a7b3e5d2f6a80', 'node'],
  ['x'.repeat(80), 'x'.repeat(63)],
])('a node on the host %s is named %s, and the next one by a number', (host, name) => {
  expect(freeNodeName(host)).toBe(name)
  join(name)
  expect(freeNodeName(host)).toBe(name.length > 61 ? `${name.slice(0, 61)}-2` : `${name}-2`)
})

test('the node of the server has a name from the start, which another cannot take', () => {
  expect(viewNode(own())).toMatchObject({
    ...{ name: expect.stringMatching(/^[a-z]/), status: 'ready', availability: 'active', progress: null },
    ...{ roles: ['server', 'entry'], instances: 0, bound: [], address: null, labels: {} },
  })
  const other = join('worker-1')
  expect(() => patchNode(other, { name: own().name.toUpperCase() })).toThrow(conflict('there is a node'))
  expect(patchNode(other, { name: 'Storage'.toLowerCase(), labels: { disk: 'ssd' } })).toMatchObject({
    ...{ name: 'storage', labels: '{"disk":"ssd"}' },
  })
  expect(viewNode(findNode('STORAGE'))).toMatchObject({ roles: [], labels: { disk: 'ssd' } })
})

describe('a drain', () => {
  test('tells how far it is, and is drained once nothing is left', () => {
    const web = make('web')
    const other = join('worker-1')
    const ids = [run(web, other), run(web, other)]
    const drained = patchNode(other, { availability: 'drain' })
    expect(viewNode(drained)).toMatchObject({ status: 'draining', progress: { done: 0, total: 2 } })
    context.database.run('DELETE FROM instances WHERE id = ?', ids[0]!)
    // Asking again does not begin again.
    expect(viewNode(patchNode(findNode('worker-1'), { availability: 'drain' }))).toMatchObject({
      ...{ status: 'draining', progress: { done: 1, total: 2 }, instances: 1 },
    })
    context.database.run('DELETE FROM instances')
    expect(viewNode(findNode('worker-1'))).toMatchObject({
      status: 'drained',
      progress: { done: 2, total: 2 },
    })
    updateNode(other.id, { status: 'down', reason: 'it does not answer' })
    expect(viewNode(findNode('worker-1'))).toMatchObject({ status: 'down', reason: 'it does not answer' })
    updateNode(other.id, { status: 'ready', reason: null })
    expect(viewNode(patchNode(findNode('worker-1'), { availability: 'active' }))).toMatchObject({
      ...{ status: 'ready', progress: null },
    })
  })

  test('stays a drain while something has its data there, which is named', () => {
    const other = join('worker-1')
    make('wiki', { disk_mount_path: '/data', node: 'worker-1' })
    createDatastore({ kind: 'keyvalue', name: 'cache', node: other.id })
    const { bound, ...view } = viewNode(patchNode(other, { availability: 'drain' }))
    expect(bound.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['datastore cache', 'service wiki'])
    expect(view).toMatchObject({ status: 'draining', progress: { done: 0, total: 0 } })
    expect(view.reason).toBe(
      'datastore cache, service wiki: have their data here and stay until they are moved',
    )
    expect(() => createDatastore({ kind: 'keyvalue', name: 'queue', node: other.id })).toThrow(
      conflict('node: worker-1 is draining: name one'),
    )
  })

  test('says what has no place elsewhere, until that has one', () => {
    const [web, wiki] = [make('web'), make('wiki', { disk_mount_path: '/data', node: own().id })]
    const other = join('worker-1')
    for (const service of [web, wiki]) run(service, own())
    run(web, other)
    patchNode(other, { availability: 'drain' })
    expect(noteStuck(web.id, 'no node takes it')).toBe(true)
    expect(noteStuck(web.id, 'no node takes it')).toBe(false)
    expect(noteStuck(wiki.id, 'nor this')).toBe(true)
    expect(viewNode(findNode('worker-1')).reason).toBe('web: no node takes it')
    expect(viewNode(own()).reason).toBeNull()
    updateNode(other.id, { reason: 'it has no packet filter' })
    expect(viewNode(findNode('worker-1')).reason).toBe('it has no packet filter; web: no node takes it')
    for (const { id } of [web, wiki]) expect(noteStuck(id, null)).toBe(true)
    expect(viewNode(findNode('worker-1')).reason).toBe('it has no packet filter')
  })

  test('waits for runs in progress, and names them', () => {
    const other = patchNode(join('worker-1'), { availability: 'drain' })
    const service = make('web')
    const id = newId('job')
    context.database.run(
      `INSERT INTO jobs (id, sequence, service_id, deploy_id, status, trigger, own_command, node_id, created_at)
       VALUES (?, 1, ?, ?, 'running', 'manual', 1, ?, 0)`,
      id,
      service.id,
      queueSourceDeploy(service, 'manual').id,
      other.id,
    )
    const reason = `job ${id} of web: runs here until it ends or is canceled`
    expect(viewNode(other)).toMatchObject({ status: 'draining', reason })
    context.database.run("UPDATE jobs SET status = 'succeeded'")
    expect(viewNode(other)).toMatchObject({ status: 'drained', reason: null })
  })

  test('of the last node that is ready and active is refused, and says what would have no place', () => {
    run(make('web'), own())
    join('worker-1', { status: 'down' })
    join('worker-2', { availability: 'drain' })
    expect(() => patchNode(own(), { availability: 'drain' })).toThrow(
      conflict(/is the last node that is ready and active, so web would have no place: activate another/),
    )
    expect(own().availability).toBe('active')
  })

  test('of a node that a placement alone allows is refused, and names the services', () => {
    const ssd = join('worker-1', { labels: '{"disk":"ssd"}' })
    const named = make('api', { placement: { nodes: ['worker-1'] } })
    make('jobs', { placement: { labels: { disk: 'ssd' } } })
    make('web', { placement: { nodes: ['worker-1', own().name] } })
    expect(() => patchNode(ssd, { availability: 'drain', name: 'other' })).toThrow(
      conflict(/fits a placement, so api, jobs would have no place: change it first/),
    )
    expect(findNode(ssd.id)).toMatchObject({ availability: 'active', name: 'worker-1' })
    patch(named, { placement: null })
    patchNode(own(), { labels: { disk: 'ssd' } })
    expect(viewNode(patchNode(ssd, { availability: 'drain' }))).toMatchObject({ status: 'drained' })
  })
})

describe('removing a node is refused', () => {
  test('for the own one, one that is not drained, and one that carries something', () => {
    expect(() => assertRemovable(own(), false)).toThrow(conflict(/the server itself runs on/))
    expect(() => assertRemovable(own(), true)).toThrow(conflict(/the server itself runs on/))
    const other = join('worker-1')
    expect(() => assertRemovable(other, false)).toThrow(conflict('worker-1 is ready: drain it first'))
    expect(() => assertRemovable(other, true)).toThrow(conflict('is ready, not down'))
    createDatastore({ kind: 'keyvalue', name: 'cache', node: 'worker-1' })
    const draining = patchNode(other, { availability: 'drain' })
    expect(() => assertRemovable(draining, false)).toThrow(
      conflict('worker-1 is draining: move datastore cache first'),
    )
    context.database.run('DELETE FROM datastores')
    expect(() => assertRemovable(draining, false)).not.toThrow()
    make('api', { placement: { nodes: ['worker-1'] } })
    expect(() => assertRemovable(draining, false)).toThrow(
      conflict('a placement names worker-1 alone, so api would have no place'),
    )
  })

  test('for one that does not answer, with what to do; not for one that still joins and carries nothing', () => {
    const other = join('worker-1', { status: 'joining', joined_at: null })
    for (const lost of [false, true]) expect(() => assertRemovable(other, lost)).not.toThrow()
    updateNode(other.id, { status: 'unreachable' })
    for (const lost of [false, true])
      expect(() => assertRemovable(findNode('worker-1'), lost)).toThrow(
        conflict(/^worker-1 is unreachable: wait .* docker swarm leave on it, .* lost=true once it is down$/),
      )
    updateNode(other.id, { status: 'joining' })
    run(make('web'), other)
    expect(() => assertRemovable(findNode('worker-1'), false)).toThrow(conflict('worker-1 is joining'))
    expect(() => assertRemovable(findNode('worker-1'), true)).toThrow(conflict('is joining, not down'))
  })

  test('for one that is down, unless it is lost; what was there still says where it was', () => {
    const lost = join('worker-1')
    const cache = createDatastore({ kind: 'keyvalue', name: 'cache', node: 'worker-1' })
    const both = make('web', { placement: { nodes: ['worker-1', own().name] } })
    const alone = make('api', { placement: { nodes: ['worker-1'] } })
    updateNode(lost.id, { status: 'down' })
    expect(() => assertRemovable(findNode('worker-1'), false)).toThrow(conflict('lost=true'))
    expect(() => assertRemovable(findNode('worker-1'), true)).not.toThrow()
    forgetNode(lost.id)
    expect(viewDatastore(cache)).toMatchObject({ node: lost.id, node_name: null })
    expect(viewService(getService(both.id)!).placement).toMatchObject({ nodes: [own().name] })
    expect(viewService(getService(alone.id)!).placement).toMatchObject({ nodes: [lost.id] })
  })
})

test('the own node takes what is placed again once the last other one is gone', () => {
  const [one, two] = [join('worker-1'), join('worker-2')]
  run(make('web'), own())
  patchNode(own(), { availability: 'drain' })
  expect(own()).toMatchObject({ availability: 'drain', drain_total: 1 })
  forgetNode(one.id)
  expect(own().availability).toBe('drain')
  forgetNode(two.id)
  expect(own()).toMatchObject({ availability: 'active', drain_total: null })
  expect(viewNode(own())).toMatchObject({ status: 'ready', progress: null })
})

describe('a placement', () => {
  test('is kept by id, so that it survives other names', () => {
    const other = join('worker-1')
    const service = make('web', { placement: { nodes: ['worker-1', other.id] } })
    patchNode(other, { name: 'storage' })
    expect(viewService(service).placement).toEqual({ nodes: ['storage'], labels: null, spread: true })
    expect(placementOf(service)?.nodes).toEqual([other.id])
  })

  test('that asks for nothing is none, and null takes one away', () => {
    const service = make('web', { placement: { labels: {}, spread: true } })
    expect(viewService(service).placement).toBeNull()
    const packed = patch(service, { placement: { spread: false } })
    expect(viewService(packed).placement).toEqual({ nodes: null, labels: null, spread: false })
    expect(viewService(patch(service, { placement: null })).placement).toBeNull()
  })

  test('changes nothing that waits for a deploy', () => {
    const service = make('web')
    const later = patch(service, { placement: { spread: false } })
    expect(later.settings_updated_at).toBe(service.settings_updated_at)
  })

  test.each<[object, object, string, RegExp]>([
    [{}, { placement: { nodes: ['nowhere'] } }, 'not_found', /placement: there is no node nowhere/],
    [
      { disk_mount_path: '/d' },
      { placement: { spread: false } },
      'invalid_request',
      /placement: .* set node/,
    ],
    [
      { type: 'static_site' },
      { placement: { spread: false } },
      'invalid_request',
      /placement: a static site/,
    ],
    [{}, { node: 'worker-1' }, 'invalid_request', /node: only a service with a disk/],
    [{ disk_mount_path: '/d' }, { node: 'nowhere' }, 'not_found', /^node: there is no node nowhere$/],
  ])('or node is judged: %j with %j', (made, changed, code, message) => {
    const fault = expect.objectContaining({ code, message: expect.stringMatching(message) as string })
    expect(() => make('new', { ...made, ...changed })).toThrow(fault)
    const service = make('old', made)
    expect(() => patch(service, changed)).toThrow(fault)
  })

  test('allows what is named and has all labels', () => {
    const [one, two] = [join('worker-1', { labels: '{"a":"1","b":"2"}' }), join('worker-2')]
    const at = (placement: object) =>
      [one, two].map((node) => allows({ nodes: null, labels: null, spread: true, ...placement }, node))
    expect(at({})).toEqual([true, true])
    expect(at({ nodes: [two.id] })).toEqual([false, true])
    expect(at({ labels: { a: '1' } })).toEqual([true, false])
    expect(at({ labels: { a: '1', b: '1' } })).toEqual([false, false])
    expect(at({ labels: { a: '1' }, nodes: [two.id] })).toEqual([false, false])
  })
})

describe('the node of data', () => {
  test('is the own one of a server without others, and told of services with a disk alone', () => {
    const [web, wiki] = [make('web'), make('wiki', { disk_mount_path: '/data' })]
    expect(viewService(web)).toMatchObject({ node: null, node_name: null, placement: null })
    expect(viewService(wiki)).toMatchObject({ node: own().id, node_name: own().name, placement: null })
    const store = viewDatastore(createDatastore({ kind: 'keyvalue', name: 'cache' }))
    expect(store).toMatchObject({ node: own().id, node_name: own().name })
  })

  test('is by default where most memory is not promised', () => {
    updateNode(own().id, { memory_bytes: 4 * GIB })
    join('worker-1', { memory_bytes: 3 * GIB })
    join('worker-2', { memory_bytes: 64 * GIB, availability: 'drain' })
    join('worker-3', { memory_bytes: 64 * GIB, status: 'unreachable' })
    const placed = (name: string) =>
      viewDatastore(createDatastore({ kind: 'keyvalue', name, memory_limit_mb: 1_536 })).node_name
    expect([placed('one'), placed('two'), placed('three')]).toEqual([own().name, 'worker-1', own().name])
  })

  test('takes nothing new where it is drained or down', () => {
    join('worker-1', { availability: 'drain' })
    join('worker-2', { status: 'down' })
    const on = (node: string) => () => createDatastore({ kind: 'keyvalue', name: 'cache', node })
    expect(on('worker-1')).toThrow(conflict('node: worker-1 is drained'))
    expect(on('worker-2')).toThrow(conflict('node: worker-2 is down'))
  })

  test('is that of a disk which was taken away before volumes were recorded with services, when it comes back', () => {
    join('worker-1', { memory_bytes: 64 * GIB })
    const wiki = make('wiki')
    ledger.record('volume', `deployer-${wiki.id}`)
    const elsewhere = { disk_mount_path: '/data', node: 'worker-1' }
    expect(() => patch(wiki, elsewhere)).toThrow(conflict(`are on the node ${own().name}: move it`))
    expect(patch(wiki, { disk_mount_path: '/data' }).node_id).toBe(own().id)
    expect(patch(make('new'), { disk_mount_path: '/data' }).node_id).not.toBe(own().id)
  })

  test('is changed by a move alone, and kept while a former disk is there', () => {
    const other = join('worker-1')
    const wiki = make('wiki', { disk_mount_path: '/data', node: 'worker-1' })
    expect(() => patch(wiki, { node: own().name })).toThrow(conflict('are on the node worker-1: move it'))
    expect(patch(wiki, { node: 'worker-1' }).node_id).toBe(other.id)
    context.database.run(
      "INSERT INTO disk_volumes (service_id, disk, volume) VALUES (?, 'data', 'v')",
      wiki.id,
    )
    expect(viewService(patch(wiki, { disk_mount_path: null })).node).toBeNull()
    expect(viewNode(other).bound).toMatchObject([{ name: 'wiki' }])
    expect(viewService(patch(wiki, { disk_mount_path: '/data' })).node).toBe(other.id)
  })

  test('and the placement are in blueprints, where there is a choice', () => {
    make('wiki', { disk_mount_path: '/data' })
    createDatastore({ kind: 'keyvalue', name: 'cache' })
    const production = findEnvironment(PRODUCTION)
    const written = () => exportBlueprint(production, 'all', 'http://localhost')
    expect(written()).not.toContain('node:')
    join('worker-1')
    expect(written().match(new RegExp(`node: ${own().name}\n`, 'g'))).toHaveLength(2)
    const yaml = `services:
  - name: web
    image: busybox:1
    placement: { nodes: [worker-1] }
    deploy: false
  - name: files
    image: busybox:1
    disk_mount_path: /data
    node: worker-1
    deploy: false
datastores:
  - name: cache
    kind: keyvalue
    node: worker-1
  - name: queue
    kind: keyvalue
    node: worker-1
`
    const apply = () =>
      applyFile(readBlueprint(yaml, { environment: PRODUCTION }), { dryRun: false, keepsHandSet: false })
    const { warnings } = apply()
    expect(warnings).toEqual([`line 14: datastore cache stays on the node ${own().name}: move it separately`])
    expect(apply().actions.map(({ action }) => action)).toEqual(Array(4).fill('unchanged'))
    const places = context.database.all<{ name: string }>(
      `SELECT nodes.name FROM (SELECT name, node_id FROM datastores WHERE name = 'queue'
         UNION ALL SELECT name, node_id FROM services WHERE name = 'files') JOIN nodes ON nodes.id = node_id`,
    )
    expect(places.map(({ name }) => name)).toEqual(['worker-1', 'worker-1'])
    expect(written()).toMatch(/placement:\n +nodes:\n +- worker-1\n/)
  })
})

describe('a blueprint applies again', () => {
  const YAML = `services:
  - name: web
    image: busybox:1
    placement: { nodes: [ID] }
    deploy: false
  - name: files
    image: busybox:1
    disk_mount_path: /data
    node: worker-1
    deploy: false
datastores:
  - name: cache
    kind: keyvalue
    node: worker-1
`
  const apply = (id: string) =>
    applyFile(readBlueprint(YAML.replace('ID', id), { environment: PRODUCTION }), {
      dryRun: false,
      keepsHandSet: false,
    })
  const staying = (name: string) => [
    `line 9: service files stays on the node ${name}: move it separately`,
    `line 14: datastore cache stays on the node ${name}: move it separately`,
  ]

  test('after what it describes has moved', () => {
    const id = join('worker-1').id
    expect(apply(id).warnings).toEqual([])
    context.database.run("UPDATE services SET node_id = ? WHERE name = 'files'", own().id)
    context.database.run('UPDATE datastores SET node_id = ?', own().id)
    const { warnings, actions } = apply(id)
    expect(warnings).toEqual(staying(own().name))
    expect(actions.map(({ action }) => action)).toEqual(Array(3).fill('unchanged'))
  })

  test('after the node that it names is gone', () => {
    const { id } = join('worker-1')
    apply(id)
    forgetNode(id)
    const { warnings, actions } = apply(id)
    expect(warnings).toEqual(staying(id))
    expect(actions.map(({ action }) => action)).toEqual(Array(3).fill('unchanged'))
  })

  test('and chooses the node of the first disk of a service that there is', () => {
    const { id } = join('worker-1')
    make('files')
    expect(apply(id).warnings).toEqual([])
    expect(viewService(findService('files'))).toMatchObject({ node: id })
  })
})

test('notifications tell of nodes, and of what was moved, by name', () => {
  const other = join('worker-1')
  const wiki = make('wiki', { disk_mount_path: '/data' })
  for (const { sequence } of nextEvents(100))
    context.database.run('DELETE FROM happenings WHERE sequence = ?', sequence)
  emitEvent('node.joined', other.id)
  emitEvent('node.down', other.id, 'It does not answer for 15 s.')
  emitEvent('node.up', other.id)
  emitEvent('service.moved', wiki.id, 'worker-1')
  const told = nextEvents(100).map((event) => messageOf(event)!)
  expect(told.map(({ message }) => `${message.text.title} | ${message.text.body}`)).toEqual([
    'Node worker-1 joined | It takes instances from now on.',
    'Node worker-1 is down | It does not answer for 15 s.',
    'Node worker-1 is back | It answers again.',
    'wiki moved to worker-1 | It runs there now, with its disks.',
  ])
  expect(told[1]!.message.data).toMatchObject({ node: { id: other.id, name: 'worker-1' } })
})
