import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Context } from '#server/context.ts'
import { lineMatcher } from '#server/logs/filter.ts'
import type { LogLine } from '#server/logs/lines.ts'
import { filterOf } from '#server/logs/read.ts'
import { ServiceLogQuery } from '#server/logs/schema.ts'
import { openContext } from '../support/context.ts'

let context: Context
let close: () => Promise<void>

beforeEach(async () => {
  ;({ context, close } = await openContext())
})
afterEach(() => close())

const DAY_MS = 86_400_000

/** A stored line of so many days ago. */
function lineOf(daysAgo: number): string {
  const ts = new Date(Date.now() - daysAgo * DAY_MS).toISOString()
  return JSON.stringify({ ts, stream: 'stdout', line: `${daysAgo} days ago`, instance: 'a' })
}

/** How many days ago the matching lines were written. */
function daysSince(since: string): number[] {
  const matcher = lineMatcher(filterOf('srv-00000000000000000000', ServiceLogQuery.parse({ since })))
  const block = [30, 11, 9, 8, 6, 1].map((ago) => `${lineOf(ago)}\n`).join('')
  return matcher(block).map((line) => parseInt((JSON.parse(line) as LogLine).line))
}

test.each([
  ['2d', [1]],
  ['7d', [6, 1]],
  ['10d', [9, 8, 6, 1]],
])('no line before %s ago matches, however long lines are kept', (since, wanted) => {
  context.options.logRetentionMs = 7 * DAY_MS
  expect(daysSince(since)).toEqual(wanted)
})
