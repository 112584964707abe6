import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine, OutputLine } from '#daemon/engine/index.ts'
import { OutputCopy } from '#daemon/jobs/output-copy.ts'
import { openLog, parseLines, readLog } from '#server/logs/files.ts'
import { lostLine, type LogLine } from '#server/logs/lines.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterAll(() => close())

const DAY = '2026-01-01T00:00:00'
const LOST = lostLine(1, 'the disk did not take it')

/** A line of the engine's log, at a fraction of the second. */
const printed = (fraction: string, line: string): OutputLine => ({
  ts: `${DAY}.${fraction}Z`,
  stream: 'stdout',
  line,
})

/** The content of a log that had some lines, and is filled up from the engine's log of a program that has exited. */
async function filledUp(id: string, held: LogLine[], engineHas: OutputLine[]): Promise<string[]> {
  const before = openLog(id)
  for (const line of held) before.write(line)
  await before.close()
  const containers = { inspect: async () => ({ running: false }) }
  const output = {
    async *logs() {
      yield* engineHas
    },
  }
  const log = openLog(id)
  const { signal } = new AbortController()
  const copy = new OutputCopy({ containers, output } as unknown as Engine, id, id, log, signal)
  copy.resume()
  await copy.finish()
  await log.close()
  const lines: string[] = []
  for await (const block of readLog(id, () => false, signal))
    lines.push(...parseLines(block).map(({ line }) => line))
  return lines
}

const MISSING = 'some earlier output on stdout was not kept: lines may be missing here'

test('output that repeats itself comes once, even if the log lacks the first of it', async () => {
  const tick = (ms: string) => ({ ...printed(ms, 'tick'), instance: 'job-1' })
  const engineHas = ['000000001', '001000001', '002000001', '003000001'].map((each) => printed(each, 'tick'))
  const lines = await filledUp('job-1', [LOST, tick('001'), tick('002')], engineHas)
  expect(lines).toEqual([LOST.line, 'tick', 'tick', MISSING, 'tick'])
})

test("lines printed in the millisecond of a log's last line are not missing", async () => {
  const held = ['one', 'two'].map((line) => ({ ...printed('123', line), instance: 'job-2' }))
  const engineHas = ['one', 'two', 'three', 'four'].map((line, index) => printed(`12300000${index}`, line))
  const lines = await filledUp('job-2', [LOST, ...held], engineHas)
  expect(lines).toEqual([LOST.line, 'one', 'two', MISSING, 'three', 'four'])
})
