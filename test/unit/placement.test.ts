import { expect, test } from 'vitest'
import { chooseNode, type Asked, type Candidate } from '#server/nodes/placement.ts'
import type { Placement } from '#server/nodes/placement-setting.ts'

const MIB = 1024 * 1024
const ASKED: Asked = { memoryMb: 512, architecture: 'amd64' }
const PACKED: Placement = { nodes: null, labels: null, spread: false }

/** A ready node with 1 GiB, on which nothing is. */
function candidate(
  name: string,
  node: Partial<Candidate['node']> = {},
  on: Partial<Candidate> = {},
): Candidate {
  return {
    node: {
      ...{ id: `nod-${name}`, name, labels: '{}', status: 'ready', availability: 'active' },
      ...{ architecture: 'x86_64', memory_bytes: 1_024 * MIB },
      ...node,
    },
    ...{ ofDeploy: 0, instances: 0, reservedMb: 0 },
    ...on,
  }
}

function chosen(placement: Placement | null, candidates: Candidate[], asked = ASKED): string {
  const found = chooseNode(placement, asked, candidates)
  return 'fault' in found ? found.fault : found.name
}

test('instances are spread: fewest of the deploy, then fewest of all, then most free memory', () => {
  const first = candidate('first', {}, { ofDeploy: 1 })
  const second = candidate('second', {}, { instances: 3 })
  const third = candidate('third', {}, { instances: 2, reservedMb: 300 })
  const fourth = candidate('fourth', {}, { instances: 2, reservedMb: 200 })
  expect(chosen(null, [first, second])).toBe('second')
  expect(chosen(null, [second, third])).toBe('third')
  expect(chosen(null, [third, fourth])).toBe('fourth')
})

test('packed instances stay together while they fit', () => {
  const full = candidate('full', {}, { ofDeploy: 5, instances: 5, reservedMb: 900 })
  const some = candidate('some', {}, { ofDeploy: 1, instances: 1 })
  expect(chosen(PACKED, [candidate('empty'), some, full])).toBe('some')
})

test('a placement allows nodes by their id and by labels', () => {
  const nodes = [candidate('first'), candidate('second', { labels: '{"disk":"ssd"}' })]
  expect(chosen({ ...PACKED, nodes: ['nod-first'] }, nodes)).toBe('first')
  expect(chosen({ ...PACKED, labels: { disk: 'ssd' } }, nodes)).toBe('second')
})

test('an image runs only on the architecture that it is for, and one for any runs everywhere', () => {
  const nodes = [candidate('arm', { architecture: 'aarch64' }), candidate('own', {}, { instances: 9 })]
  expect(chosen(null, nodes)).toBe('own')
  expect(chosen(null, nodes, { ...ASKED, architecture: 'arm64' })).toBe('arm')
  expect(chosen(null, nodes, { ...ASKED, architecture: null })).toBe('arm')
})

test('a fault says what was asked for and why no node does', () => {
  const nodes = [
    candidate('full', { labels: '{"disk":"ssd"}' }, { reservedMb: 1_000 }),
    candidate('away', { labels: '{"disk":"ssd"}', status: 'down' }),
    candidate('leaving', { labels: '{"disk":"ssd"}', availability: 'drain' }),
    candidate('other'),
    candidate('arm', { labels: '{"disk":"ssd"}', architecture: 'arm64' }),
  ]
  expect(chosen({ ...PACKED, labels: { disk: 'ssd' } }, nodes)).toBe(
    'no node takes an instance that needs 256 MiB (half of its limit) and disk=ssd: full has 24 MiB free; away is down; leaving is being drained; other is not among its nodes; arm is arm64, and its image is for amd64',
  )
})

test('a node that has not told its memory takes everything', () => {
  expect(chosen(null, [candidate('new', { memory_bytes: null }, { reservedMb: 9_999 })])).toBe('new')
})
