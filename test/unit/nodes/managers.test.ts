import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SwarmNode } from '#daemon/engine/index.ts'
import { Managers, managerSteps } from '#daemon/nodes/managers.ts'
import { useDatabase } from '#server/context.ts'
import { writeSetting } from '#server/database/settings.ts'
import { AppError } from '#server/errors.ts'
import { managerFaults, setManagers } from '#server/nodes/managers.ts'
import { assertRemovable } from '#server/nodes/operations.ts'
import { getNode, listNodes, ownNodeId, updateNode } from '#server/nodes/store.ts'
import { viewNode } from '#server/nodes/view.ts'
import { openContext } from '../../support/context.ts'
import { addNode } from '../../support/nodes.ts'

describe('the managers of a swarm', () => {
  const member = (id: string, managerState: SwarmNode['managerState'] = null, state = 'ready') =>
    ({ id, state, isManager: managerState !== null, managerState }) as SwarmNode
  const steps = (members: SwarmNode[], ...wanted: string[]) => {
    const { promote, demote } = managerSteps(members, new Set(wanted), 'own')
    return [promote, demote].map((each) => each.map(({ id }) => id).join())
  }
  const own = member('own', 'leader')

  test.each<[string, SwarmNode[], string[], string[]]>([
    ['both become some at once', [own, member('a'), member('b')], ['a', 'b'], ['a,b', '']],
    [
      'none begins alone while another one is away',
      [own, member('a', null, 'down'), member('b')],
      ['a', 'b'],
      ['', ''],
    ],
    ['none begins alone while another one is not there', [own, member('b')], ['a', 'b'], ['', '']],
    [
      'one that is away ends first',
      [own, member('a', 'reachable'), member('b', 'unreachable', 'down')],
      [],
      ['', 'b,a'],
    ],
    [
      'none ends while one alone is wanted',
      [own, member('a', 'reachable'), member('c', 'reachable')],
      ['a'],
      ['', ''],
    ],
    ['both end at once', [own, member('a', 'reachable'), member('b', 'reachable')], [], ['', 'a,b']],
    [
      'a new one begins before the former one ends',
      [own, member('a', 'reachable'), member('b', 'unreachable', 'down'), member('c')],
      ['a', 'c'],
      ['c', ''],
    ],
    [
      'the former one ends once the new one is there',
      [own, member('a', 'reachable'), member('b', 'unreachable', 'down'), member('c', 'reachable')],
      ['a', 'c'],
      ['', 'b'],
    ],
    [
      'none ends while another one is away',
      [own, member('a', 'unreachable'), member('b', 'reachable'), member('c', 'reachable')],
      ['a', 'c'],
      ['', ''],
    ],
    [
      'nothing is left to do',
      [own, member('a', 'reachable'), member('b', 'reachable')],
      ['a', 'b'],
      ['', ''],
    ],
  ])('%s', (_what, members, wanted, expected) => {
    expect(steps(members, ...wanted)).toEqual(expected)
  })
})

describe('a step that the swarm refuses', () => {
  let close: () => Promise<void>
  beforeEach(async () => {
    ;({ close } = await openContext())
    updateNode(ownNodeId(), { swarm_id: 'own' })
  })
  afterEach(() => close())

  test('does not keep the others from being taken', async () => {
    for (const name of ['a', 'b']) addNode(name, { swarm_id: name })
    writeSetting(useDatabase(), 'former_swarm_node', 'former')
    const taken: string[] = []
    const managers = new Managers({
      async setManager(id) {
        taken.push(id)
        if (id === 'a') throw new AppError('runtime_error', 'the managers would be too few')
        return true
      },
      async removeNode(id) {
        taken.push(`${id} removed`)
      },
    })
    const as = (id: string, managerState: SwarmNode['managerState']) =>
      ({ id, state: 'ready', isManager: managerState !== null, managerState }) as SwarmNode
    await managers.settle([
      ...[as('own', 'leader'), as('a', 'reachable'), as('b', 'reachable')],
      as('former', null),
    ])
    expect(taken).toEqual(['a', 'b', 'former removed'])
  })
})

describe('which nodes are to be managers', () => {
  let close: () => Promise<void>
  beforeEach(async () => {
    ;({ close } = await openContext())
    updateNode(ownNodeId(), { name: 'own', swarm_id: 'own', manager_state: 'leader' })
    for (const [name, memory_bytes] of [
      ['a', 1],
      ['b', 3],
      ['c', 2],
    ] as const)
      addNode(name, { swarm_id: name, memory_bytes })
  })
  afterEach(() => close())

  const wanted = () => listNodes().flatMap(({ name, is_manager }) => (is_manager === 1 ? [name] : []))

  test('are those with most memory, if none are named, and stay', () => {
    setManagers(3, undefined)
    expect(wanted()).toEqual(['b', 'c'])
    setManagers(3, ['a', 'nod-c'])
    expect(wanted()).toEqual(['a', 'c'])
    setManagers(3, [])
    expect(wanted()).toEqual(['a', 'c'])
    setManagers(1, undefined)
    expect(wanted()).toEqual([])
  })

  test.each<[number, string[] | undefined, RegExp]>([
    [2, undefined, /^managers: with two, the loss of either one stops the swarm/],
    [4, undefined, /^managers: a server has one or three$/],
    [3, ['a'], /^nodes: name two nodes/],
    [3, ['a', 'nod-a'], /^nodes: name two nodes/],
    [3, ['a', 'own'], /^nodes: own is the node of the server/],
    [3, ['a', 'x'], /^nodes: there is no node x$/],
    [1, ['a'], /^nodes: the only manager is the node of the server/],
  ])('are refused as %j %j, and nothing is changed', (count, names, reason) => {
    setManagers(3, ['a', 'b'])
    expect(() => setManagers(count, names)).toThrow(reason)
    expect(wanted()).toEqual(['a', 'b'])
  })

  test('are only nodes that are ready', () => {
    updateNode('nod-a', { status: 'down' })
    expect(() => setManagers(3, ['a', 'b'])).toThrow(/^nodes: a is down/)
    updateNode('nod-b', { status: 'unreachable' })
    expect(() => setManagers(3, undefined)).toThrow(/^managers: three need two other nodes .* there is one$/)
  })

  test('are none that is drained, unless it is named or one already', () => {
    updateNode('nod-b', { availability: 'drain' })
    setManagers(3, undefined)
    expect(wanted()).toEqual(['a', 'c'])
    updateNode('nod-a', { availability: 'drain' })
    setManagers(3, undefined)
    expect(wanted()).toEqual(['a', 'c'])
    setManagers(3, ['a', 'b'])
    expect(wanted()).toEqual(['a', 'b'])
  })

  test('must be chosen when a restored server knows one of the two others', () => {
    updateNode('nod-a', { is_manager: 1, manager_state: 'reachable' })
    const fault = () => managerFaults().map(({ nodeId, message }) => `${nodeId}: ${message}`)
    expect(fault()).toEqual([
      expect.stringContaining(`${ownNodeId()}: there are two managers, but a alone is to be one`),
    ])
    updateNode('nod-c', { manager_state: 'reachable' })
    expect(fault()).toEqual([expect.stringContaining('there are 3 managers, but a alone')])
    setManagers(3, ['a', 'c'])
    expect(fault()).toEqual([])
  })

  test('are told as they are to be, too', () => {
    updateNode('nod-a', { manager_state: 'unreachable' })
    updateNode('nod-b', { manager_state: 'reachable' })
    setManagers(3, ['b', 'c'])
    const states = listNodes().map((node) => viewNode(node).manager)
    expect(states).toEqual(['leader', 'ceasing', 'reachable', 'becoming'])
  })

  test('that begin and end are not told to be brought back', () => {
    setManagers(3, ['a', 'b'])
    updateNode('nod-c', { manager_state: 'reachable' })
    expect(managerFaults().map(({ nodeId, fix }) => [nodeId, fix.split('.')[0]])).toEqual(
      ['nod-a', 'nod-b', 'nod-c'].map((id) => [id, 'It takes seconds']),
    )
    updateNode('nod-b', { status: 'down' })
    expect(managerFaults()[1]).toMatchObject({
      message: 'it is to become a manager, and the swarm waits for it',
      fix: expect.stringMatching(/^Bring it back, or have two others/),
    })
  })

  test('cannot change without the swarm, which names those that are away', () => {
    setManagers(3, ['a', 'b'])
    for (const name of ['a', 'b']) updateNode(`nod-${name}`, { manager_state: 'unreachable', status: 'down' })
    updateNode(ownNodeId(), { manager_state: 'unreachable' })
    const reason = /the swarm does not answer, since a and b are away/
    expect(() => setManagers(1, undefined)).toThrow(reason)
    expect(managerFaults()).toMatchObject([{ nodeId: ownNodeId(), isSilent: true }])
    expect(managerFaults()[0]!.message).toMatch(reason)
  })

  test('stay while they are, whether drained or lost', () => {
    setManagers(3, ['a', 'b'])
    updateNode('nod-a', { manager_state: 'unreachable', status: 'down' })
    expect(managerFaults().map(({ nodeId }) => nodeId)).toEqual(['nod-a', 'nod-b'])
    expect(() => assertRemovable(getNode('nod-a')!, true)).toThrow(/a is a manager: .* managers 3/)
    setManagers(1, undefined)
    expect(() => assertRemovable(getNode('nod-a')!, true)).toThrow(/still ceasing/)
    updateNode('nod-a', { manager_state: null })
    expect(() => assertRemovable(getNode('nod-a')!, true)).not.toThrow()
  })
})
