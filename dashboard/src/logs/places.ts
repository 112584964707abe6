import { computed, ref, watch, type ComputedRef, type Ref } from 'vue'
import type { LogRows } from './groups.ts'
import type { LogLine } from './line.ts'
import { RowHeights } from './row-heights.ts'

/** More than the number of any line: the rows of a section have higher keys than those of the sections before it. */
const SECTION_KEYS = 2 ** 32

/** The rows of a log, and how many pixels high they usually are. */
export interface PlacedRows {
  lines: Readonly<Ref<LogLine[]>>
  shown: Readonly<Ref<LogRows>>
  linePixels: Readonly<Ref<number>>
  headingPixels: Readonly<Ref<number>>
}

export interface Places {
  /** The height of all rows. */
  total: ComputedRef<number>
  /** Pixels from the first row. */
  startOf: (row: number) => number
  heightOf: (row: number) => number
  /** Stays the same when older lines are dropped, and when steps above open or close. */
  keyOf: (row: number) => number
  /** Sets the height of the row of a line; returns by how many pixels it changed. */
  setHeight: (row: number, pixels: number) => number
  /** Forgets the heights that were set. */
  reset: () => void
}

/**
 * Where each row is, and how high: headings and lines have their usual heights, but for the lines whose heights were set. Lines
 * of closed steps keep theirs until they are open again.
 */
export function usePlaces({ lines, shown, linePixels, headingPixels }: PlacedRows): Places {
  const heights = new RowHeights()
  /** Counts what changes the heights, for what is computed from them. */
  const changes = ref(0)

  function extraBefore(place: number, number = 0): number {
    return heights.extraBefore(place * SECTION_KEYS + number) - heights.extraBefore(place * SECTION_KEYS)
  }

  /** Where each section starts, and at last where all end. */
  const starts = computed(() => {
    void changes.value
    const starts = [0]
    let end = 0
    for (const [place, { headings, lines }] of shown.value.sections.entries()) {
      end += headings * headingPixels.value + lines * linePixels.value
      if (lines > 0) end += extraBefore(place, SECTION_KEYS)
      starts.push(end)
    }
    return starts
  })

  const numberAt = (row: number): number => lines.value[shown.value.lineAt(row)]?.number ?? 0

  function startOf(row: number): number {
    const { count, sections, placeAt } = shown.value
    if (row < 0 || row >= count) return row < 0 ? 0 : starts.value.at(-1)!
    const place = placeAt(row)
    const { start, headings } = sections[place]!
    const above = row - start - headings
    if (above < 0) return starts.value[place]!
    const usual = headings * headingPixels.value + above * linePixels.value
    return starts.value[place]! + usual + extraBefore(place, numberAt(row))
  }

  const keyOf = (row: number): number => shown.value.placeAt(row) * SECTION_KEYS + numberAt(row)

  function setHeight(row: number, pixels: number): number {
    const change = heights.set(keyOf(row), pixels - linePixels.value)
    if (change !== 0) changes.value++
    return change
  }

  function reset(): void {
    heights.clear()
    changes.value++
  }

  // Another reading numbers its lines from 1 again, and steps that are grouped again may have another order.
  watch(
    () => [lines.value, shown.value.sections[0]?.group, lines.value[0]?.number ?? 0] as const,
    ([reading, group, first], [readingBefore, groupBefore]) => {
      if (reading !== readingBefore || group !== groupBefore) return reset()
      heights.forgetBefore(first)
      changes.value++
    },
  )
  return {
    total: computed(() => starts.value.at(-1)!),
    startOf,
    heightOf: (row) => startOf(row + 1) - startOf(row),
    keyOf,
    setHeight,
    reset,
  }
}
