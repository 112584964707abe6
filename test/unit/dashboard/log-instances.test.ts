import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { shallowRef, triggerRef } from 'vue'
import { useManyInstances } from '../../../dashboard/src/logs/instances.ts'
import { fromLogEvent, type LogLine } from '../../../dashboard/src/logs/line.ts'

const TS = '2026-01-01T00:00:00.000Z'
const instance = constantFrom('shop-a', 'shop-b', undefined)

function lineOf(instance: string | undefined, number: number): LogLine {
  return fromLogEvent({ ts: TS, stream: 'stdout', line: 'said', ...(instance && { instance }) }, number)
}

/** The plain way: every line is looked at. */
function hasMany(lines: readonly LogLine[]): boolean {
  return new Set(lines.flatMap(({ instance }) => instance ?? [])).size > 1
}

test('lines are of many instances as long as lines of two are there, while some come and the oldest are dropped', () => {
  const batch = record({ come: array(instance, { maxLength: 5 }), dropped: integer({ min: 0, max: 6 }) })
  assert(
    property(array(batch, { maxLength: 20 }), (batches) => {
      const lines = shallowRef<LogLine[]>([])
      const many = useManyInstances(lines)
      let number = 0
      for (const { come, dropped } of batches) {
        lines.value.push(...come.map((each) => lineOf(each, ++number)))
        lines.value.splice(0, dropped)
        triggerRef(lines)
        expect(many.value).toBe(hasMany(lines.value))
      }
      lines.value = [lineOf('shop-a', 1), lineOf('shop-b', 2)]
      expect(many.value).toBe(true)
      lines.value = [lineOf('shop-a', 1)]
      expect(many.value).toBe(false)
    }),
  )
})
