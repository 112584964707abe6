import { computed, shallowRef, triggerRef } from 'vue'
import { expect, test } from 'vitest'
import { useBlocks } from '../../../dashboard/src/logs/blocks.ts'
import { plainRows } from '../../../dashboard/src/logs/groups.ts'
import { fromLogEvent } from '../../../dashboard/src/logs/line.ts'
import { lineLooks } from '../../../dashboard/src/logs/line-look.ts'

const PLAIN = { numbered: true, query: '', wrap: false, times: false, dated: false, instances: false }

function lineOf(text: string, number = 1) {
  return fromLogEvent({ ts: '2026-11-28T10:00:00.000Z', stream: 'stdout', line: text }, number)
}

test('only the block that has changed is drawn again', () => {
  const lines = shallowRef(['one', 'two', 'three', 'four'].map((text, at) => lineOf(text, at + 1)))
  const marked = shallowRef(-1)
  const drawn = computed(() =>
    [0, 2].map((first) => ({
      slot: first,
      rows: [first, first + 1].map((index) => ({ index, slot: index })),
    })),
  )
  const blocks = useBlocks({
    drawn,
    lines,
    shown: computed(() => plainRows(lines.value.length)),
    isMarked: ({ at }) => at === marked.value,
    staysInOrder: () => false,
  })
  const [first, last] = blocks.value
  triggerRef(lines)
  expect(blocks.value.map((block, at) => block === [first, last][at])).toEqual([true, true])
  marked.value = 3
  expect(blocks.value.map((block, at) => block === [first, last][at])).toEqual([true, false])
  expect(blocks.value[1]!.rows.map(({ line, isMarked }) => [line?.text, isMarked])).toEqual([
    ['three', false],
    ['four', true],
  ])
})

test('while the log is scrolled, blocks stay where they are in the document, and new ones come last', () => {
  const slots = shallowRef([3, 1, 2])
  let staysInOrder = true
  const blocks = useBlocks({
    drawn: computed(() => slots.value.map((slot) => ({ slot, rows: [] }))),
    lines: shallowRef([]),
    shown: computed(() => plainRows(0)),
    isMarked: () => false,
    staysInOrder: () => staysInOrder,
  })
  const order = () => blocks.value.map(({ slot }) => slot)
  expect(order()).toEqual([3, 1, 2])
  slots.value = [0, 1, 3, 4]
  expect(order()).toEqual([3, 1, 0, 4])
  staysInOrder = false
  slots.value = [0, 1, 3]
  expect(order()).toEqual([0, 1, 3])
})

test('a line has parts only where not all of it looks the same', () => {
  const partsOf = (text: string, query = '') => lineLooks({ ...PLAIN, query })(lineOf(text)).segments
  expect(partsOf('ready')).toBeNull()
  expect(partsOf('ready', 'absent')).toBeNull()
  expect(partsOf('ready', 'read')?.map(({ text, found }) => [text, found])).toEqual([
    ['read', true],
    ['y', false],
  ])
  expect(partsOf('\x1b[31mred\x1b[0m')).toHaveLength(1)
})
