import { afterEach, beforeEach, expect, test } from 'vitest'
import { linesBesidesAccess } from '#server/logs/filter.ts'
import { storedLine, type LogLine } from '#server/logs/lines.ts'
import { closeServiceLogs, serviceLog } from '#server/logs/service-logs.ts'
import { Allowance, readTail } from '#server/logs/tail.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import { othersTaker, storeAccessLines } from '../../daemon/logs/access-lines.ts'
import type { AccessLine, AccessLines } from '../../proxy/protocol.ts'
import { openContext } from '../support/context.ts'

let service: string
let close: () => Promise<void>
beforeEach(async () => {
  ;({ close } = await openContext())
  service = createService(ServiceInput.parse({ name: 'visited', deploy: false })).id
})
afterEach(async () => {
  await closeServiceLogs()
  await close()
})

async function stored(id = service): Promise<LogLine[]> {
  const { blocks } = await readTail(await serviceLog(id).stored(), null, 100, new Allowance(1_000_000))
  const text = Buffer.concat(blocks).toString('utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LogLine)
}

/** A request of the service, or of another, that ended at a moment. */
function request(path: string, at: number, instance: string | null = null, of = service): AccessLine {
  return [of, at, 'GET', 'visited.test', path, 200, 5, 1.5, '192.0.2.1', 'tester/1', 'id', instance]
}

function store(lines: AccessLine[], lost: AccessLines['lost'] = {}): void {
  storeAccessLines({ lines, lost, more: false })
}

test('requests are stored as JSON in the order in which they ended', async () => {
  store([request('/second', 2_000, 'srv-a-1'), request('/first', 1_000)])
  const [first, second] = await stored()
  expect(first).toMatchObject({ ts: '1970-01-01T00:00:01.000Z', stream: 'access' })
  expect(JSON.parse(first!.line)).toEqual({
    ...{ method: 'GET', host: 'visited.test', path: '/first', status: 200, bytes: 5, duration_ms: 1.5 },
    ...{ ip: '192.0.2.1', user_agent: 'tester/1', request_id: 'id', instance: null },
  })
  expect([first!.instance, second!.instance]).toEqual([undefined, 'srv-a-1'])
})

test('the log says how many requests are missing, after those before them', async () => {
  store([request('/', 1_000)], { [service]: 7 })
  const [, lost] = await stored()
  expect(lost).toMatchObject({ stream: 'system', line: expect.stringMatching(/^7 lines were lost here: /) })
})

test('what may be a secret in a query is left out, and the line stays JSON', async () => {
  store([request('/?token=hidden"&q=1', 1_000)])
  const [line] = await stored()
  expect(JSON.parse(line!.line)).toMatchObject({ path: '/?token=***"&q=1', status: 200 })
})

test('requests of a deleted service are dropped', async () => {
  const gone = 'srv-00000000000000000000'
  store([request('/', 1_000, null, gone)], { [gone]: 1 })
  expect(await stored(gone)).toEqual([])
})

test('what a program printed is found between its requests', () => {
  const line = (stream: LogLine['stream'], text: string) =>
    storedLine({ ts: '2026-01-01T00:00:00.000Z', stream, line: text })
  const block = line('stdout', 'one') + line('access', '{}') + line('system', 'two')
  expect(linesBesidesAccess(block).map((each) => (JSON.parse(each) as LogLine).line)).toEqual(['one', 'two'])
})

test('of a node that always has more, only so much is taken; one that says what is wrong rests', async () => {
  const asked = { flood: 0, empty: 0, liar: 0 }
  const lines = Array.from({ length: 1_000 }, (_, index) => request('/', index))
  const sources = new Map([
    ['flood', { accessLines: async () => (asked.flood++, { lines, lost: {}, more: true }) }],
    ['empty', { accessLines: async () => (asked.empty++, { lines: [], lost: {}, more: true }) }],
    ['liar', { accessLines: () => (asked.liar++, Promise.reject(new Error('its lines are wrong'))) }],
  ])
  const take = othersTaker()
  const { signal } = new AbortController()
  const began = performance.now()
  for (let turn = 0; turn < 10; turn++) {
    take(sources, signal)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  // A turn begins every 200 ms, and takes 16,384 lines.
  const turns = 1 + (performance.now() - began) / 200
  expect(asked.flood).toBeLessThanOrEqual(17 * turns)
  expect(asked.empty).toBeLessThanOrEqual(turns)
  expect(asked.liar).toBe(1)
})
