import { computed, type ComputedRef, type Ref } from 'vue'
import type { DeployStep } from '../api/types.ts'
import type { LogRows } from './groups.ts'
import type { LogLine } from './line.ts'

/**
 * How many rows are drawn together. What changes in one block leaves the others as they are: while a log is scrolled slowly, a
 * frame draws a few rows and not all.
 */
const BLOCK_ROWS = 5

/** Consecutive rows that are drawn together. */
export interface DrawnBlock {
  /** Which elements show it. */
  slot: number
  rows: DrawnRow[]
}

export interface DrawnRow {
  index: number
  /** Which of the elements of its block shows it. */
  slot: number
}

/** The rows from `from` until before `to`, and the others of their blocks, by their blocks. */
export function blocksBetween(
  from: number,
  to: number,
  count: number,
  keyOf: (row: number) => number,
): Map<number, DrawnRow[]> {
  const blockOf = (row: number): number => Math.floor(keyOf(row) / BLOCK_ROWS)
  let [first, end] = [from, to]
  while (first > 0 && blockOf(first - 1) === blockOf(first)) first--
  while (end < count && blockOf(end - 1) === blockOf(end)) end++
  const found = new Map<number, DrawnRow[]>()
  for (let index = first; index < end; index++) {
    const [block, slot] = [blockOf(index), keyOf(index) % BLOCK_ROWS]
    const rows = found.get(block)
    if (rows) rows.push({ index, slot })
    else found.set(block, [{ index, slot }])
  }
  return found
}

/** A row with what it shows: a line, or the heading of a step. */
export interface BlockRow extends DrawnRow {
  /** The index of its line; -1 for a heading. */
  at: number
  line: LogLine | undefined
  step: DeployStep | undefined
  /** Whether the step has lines that can be shown. */
  hasLines: boolean
  isMarked: boolean
}

export interface Block {
  slot: number
  rows: BlockRow[]
}

interface Options {
  drawn: ComputedRef<DrawnBlock[]>
  lines: Readonly<Ref<LogLine[]>>
  shown: Readonly<Ref<LogRows>>
  isMarked: (row: Omit<BlockRow, 'isMarked'>) => boolean
  /** Whether elements stay where they are in the document, whatever they show: the browser lays out again what is moved. */
  staysInOrder: () => boolean
}

/** What is drawn. The rows of a block stay the same array as long as nothing of them changes, so that it is not drawn again. */
export function useBlocks({ drawn, lines, shown, isMarked, staysInOrder }: Options): ComputedRef<Block[]> {
  function contentOf({ index, slot }: DrawnRow): BlockRow[] {
    const at = shown.value.lineAt(index)
    const heading = shown.value.headingAt(index)
    const line = heading ? undefined : lines.value[at]
    if (!line && !heading?.step) return []
    const row = {
      index,
      slot,
      at,
      line,
      step: heading?.step ?? undefined,
      hasLines: heading !== null && heading.lines.length > 0,
    }
    return [{ ...row, isMarked: isMarked(row) }]
  }

  return computed<Block[]>((before) => {
    const known = new Map(before?.map((block) => [block.slot, block]))
    const blocks = drawn.value.map(({ slot, rows }) => {
      const block = { slot, rows: rows.flatMap(contentOf) }
      const same = known.get(slot)
      return same && isSame(same.rows, block.rows) ? same : block
    })
    return before && staysInOrder() ? inOrderOf(before, blocks) : blocks
  })
}

/** The blocks in the order in which they were `before`, those that are new at the end. */
function inOrderOf(before: readonly Block[], blocks: readonly Block[]): Block[] {
  const places = new Map(before.map(({ slot }, at) => [slot, at]))
  const placeOf = ({ slot }: Block): number => places.get(slot) ?? before.length
  return blocks.toSorted((one, other) => placeOf(one) - placeOf(other))
}

function isSame(one: readonly BlockRow[], other: readonly BlockRow[]): boolean {
  return one.length === other.length && one.every((row, at) => isSameRow(row, other[at]!))
}

function isSameRow(one: BlockRow, other: BlockRow): boolean {
  return (Object.keys(one) as (keyof BlockRow)[]).every((key) => one[key] === other[key])
}
