import { computed, nextTick, onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue'
import { blocksBetween, type DrawnBlock } from './blocks.ts'
import type { LogRows } from './groups.ts'
import { usePlaces, type PlacedRows } from './places.ts'
import { firstIndex } from './row-heights.ts'
import { useScroller, type Scroller } from './scroller.ts'
import { Slots } from './slots.ts'

const OVERSCAN_ROWS = 20
/** How long the view has to rest until rows around it are drawn again. */
const REST_MS = 200
/** Rows that come into view have other heights than they were taken to have, a few times at most. */
const SCROLL_TRIES = 5

export interface DrawnRows {
  /** Those in view, and some before and after. */
  blocks: ComputedRef<DrawnBlock[]>
  /** The first row that is in view, or under the heading at its top; the count of rows if there is none. */
  top: ComputedRef<number>
  /** The height of all rows. */
  total: ComputedRef<number>
  /** Pixels from the first row. */
  startOf: (row: number) => number
  /** Scrolls to so many pixels from the first row. */
  moveTo: (pixels: number) => void
  /** Whether the view is where it was moved to by the page. */
  isMovedByPage: () => boolean
  /** Scrolls to a row, at the top below the heading of its step or in the middle, whatever the heights of those around it. */
  scrollTo: (row: number, align: 'start' | 'center') => void
  /** Draws the rows at the end, to which the scroller is about to be scrolled. */
  drawEnd: () => void
  /** Forgets what was measured. */
  reset: () => void
}

interface Options extends PlacedRows {
  scroller: Ref<HTMLElement | undefined>
  /** What contains the elements of rows, whose `data-index` is their row. */
  list: Ref<HTMLElement | undefined>
}

/** Which rows of a log are drawn, and where. New lines cost the same however many there are. */
export function useLogRows({ scroller, list, ...placed }: Options): DrawnRows {
  const { shown, headingPixels } = placed
  const places = usePlaces(placed)
  const { total, startOf, heightOf, keyOf } = places
  const view = useScroller(scroller, setHeight)
  const { scrolled, viewPixels, padding, moveTo } = view
  const slots = new Slots()
  const { top, below } = useRange(shown, startOf, view)
  const overscan = useOverscan(
    () => keyOf(top.value),
    () => keyOf(below.value - 1),
  )
  const blocks = computed(() => {
    const [from, to] = [top.value - overscan.value, below.value + overscan.value]
    const found = blocksBetween(Math.max(0, from), Math.min(shown.value.count, to), shown.value.count, keyOf)
    const slotOf = slots.of([...found.keys()], !isInUse(list.value))
    return [...found.values()].map((rows, at) => ({ slot: slotOf[at]!, rows }))
  })
  watch(blocks, measure, { flush: 'post' })

  /** Measures the rows of lines that may not have the usual height: all at once, as each measuring lays out what has changed. */
  function measure(): void {
    for (const row of list.value?.querySelectorAll<HTMLElement>('.log-wrap') ?? []) {
      setHeight(row)
      view.observe(row)
    }
  }

  function setHeight(element: HTMLElement): void {
    const row = Number(element.dataset['index'])
    // An element that had a line may be that of a heading now, whose height is known.
    if (row >= shown.value.count || !element.matches('.log-wrap')) return
    const isAbove = startOf(row) < scrolled.value
    const change = places.setHeight(row, element.offsetHeight)
    if (isAbove) view.moveBy(change)
  }

  async function scrollTo(row: number, align: 'start' | 'center'): Promise<void> {
    for (let [tries, before] = [0, -1]; tries < SCROLL_TRIES && scroller.value; tries++) {
      if (row < 0 || row >= shown.value.count) return
      const middle = (viewPixels.value - heightOf(row)) / 2
      const space = align === 'center' ? middle : headingsAbove(shown.value, row) * headingPixels.value
      const wanted = Math.max(0, startOf(row) - space)
      if (wanted === before) return
      before = wanted
      moveTo(wanted)
      await nextTick()
    }
  }

  return {
    blocks,
    top,
    total,
    startOf,
    moveTo,
    isMovedByPage: view.isMovedByPage,
    scrollTo: (row, align) => void scrollTo(row, align),
    drawEnd: () => void (scrolled.value = Math.max(0, total.value + padding.value - viewPixels.value)),
    reset() {
      places.reset()
      // Rows that stay where they were are not drawn again.
      void nextTick(measure)
    },
  }
}

/** The first row that is in view, and the first one below it. */
function useRange(
  shown: Readonly<Ref<LogRows>>,
  startOf: (row: number) => number,
  { scrolled, viewPixels }: Scroller,
): { top: ComputedRef<number>; below: ComputedRef<number> } {
  const first = (holds: (row: number) => boolean) => firstIndex(shown.value.count, holds)
  return {
    top: computed(() => first((row) => startOf(row + 1) > scrolled.value)),
    below: computed(() => first((row) => startOf(row) >= scrolled.value + viewPixels.value)),
  }
}

/**
 * How many rows are drawn before and after those in view, which have these keys. None while nothing that was in view stays
 * there, since someone scrolls fast or lines come fast: such rows would be gone before they are seen.
 */
function useOverscan(first: () => number, last: () => number): Ref<number> {
  const overscan = ref(OVERSCAN_ROWS)
  let timer: ReturnType<typeof setTimeout> | undefined
  watch([first, last] as const, ([first, last], [firstBefore, lastBefore]) => {
    if (first <= lastBefore && firstBefore <= last) return
    overscan.value = 0
    clearTimeout(timer)
    timer = setTimeout(() => (overscan.value = OVERSCAN_ROWS), REST_MS)
  })
  onScopeDispose(() => clearTimeout(timer))
  return overscan
}

/** Whether the focus or an end of the selection is in a row of this list: its element must not become another row. */
export function isInUse(list: HTMLElement | undefined): boolean {
  const selection = getSelection()
  const nodes = [document.activeElement, selection?.anchorNode, selection?.focusNode]
  return nodes.some((node) => node && node !== list && list?.contains(node))
}

/** How many headings stay at the top of the view above a row. */
function headingsAbove({ sections, placeAt }: LogRows, row: number): number {
  const { start, headings } = sections[placeAt(row)]!
  return row < start + headings ? 0 : headings
}
