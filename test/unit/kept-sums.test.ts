import { afterEach, beforeEach, expect, test } from 'vitest'
import { forgetGone, keepSums, keptSums } from '#daemon/metrics/kept-sums.ts'
import { readRequests } from '#daemon/metrics/requests.ts'
import type { DataPlane } from '#daemon/proxy/data-plane.ts'
import { LATENCY_COUNTS } from '#server/metrics/latency.ts'
import { deleteNode } from '#server/nodes/store.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import type { Counts } from '#proxy/protocol.ts'
import { openContext } from '../support/context.ts'
import { addNode } from '../support/nodes.ts'

let service: string
let node: string
let close: () => Promise<void>
beforeEach(async () => {
  ;({ close } = await openContext())
  service = createService(ServiceInput.parse({ name: 'visited', deploy: false })).id
  node = addNode('worker')
})
afterEach(() => close())

function counts(incarnation: string, ok: number): Counts {
  const none = { status_3xx: 0, status_4xx: 0, status_5xx: 0, latency_sum_seconds: ok }
  const target = {
    ...none,
    status_2xx: ok,
    latency_buckets: Array.from({ length: LATENCY_COUNTS }, () => ok),
  }
  return {
    ...{ incarnation, started_at: new Date().toISOString(), open_connections: 0, open_requests: 0 },
    targets: { [service]: target, gone: target },
  }
}

/** The requests of the service as a server tells them that was just started. */
async function told(own: Counts, others: [node: string, counts: Counts | null][]): Promise<number> {
  const dataPlane = { counts: async () => own, others: { counts: () => new Map(others) } }
  const requests = await readRequests({ dataPlane: dataPlane as unknown as DataPlane }, keptSums())
  return requests!.targets.find(({ target }) => target === service)!.statuses[0]
}

test('no figure that was told goes down when the server is started again', async () => {
  expect(await told(counts('a', 100), [[node, counts('x', 10)]])).toBe(110)
  expect(await told(counts('a', 101), [[node, null]])).toBe(111)
  expect(await told(counts('b', 1), [[node, counts('y', 1)]])).toBe(113)
  expect(await told(counts('b', 1), [])).toBe(113)
})

test('what belonged to what is gone is not kept', async () => {
  await told(counts('a', 100), [[node, counts('x', 10)]])
  deleteNode(node)
  const sums = keptSums()
  forgetGone(sums)
  keepSums(sums)
  expect(Object.keys(keptSums().kept!.ended)).toEqual([service])
  expect(await told(counts('a', 100), [])).toBe(110)
})

test('a server of one data plane keeps nothing', async () => {
  expect(await told(counts('a', 100), [])).toBe(100)
  expect(await told(counts('b', 1), [])).toBe(1)
  expect(keptSums().kept).toBeNull()
})
