import { computed, nextTick, onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue'
import type { LogRows } from './groups.ts'
import { usePlaces, type PlacedRows } from './places.ts'
import { firstIndex } from './row-heights.ts'

const OVERSCAN_ROWS = 20
/** Rows that come into view have other heights than they were taken to have, a few times at most. */
const SCROLL_TRIES = 5

/** A row that is drawn. */
export interface DrawnRow {
  index: number
  key: number
  /** Pixels from the first row. */
  start: number
}

export interface DrawnRows {
  /** Those in view, and some before and after. */
  rows: ComputedRef<DrawnRow[]>
  /** The first row that is in view, or under the heading at its top; the count of rows if there is none. */
  top: ComputedRef<number>
  /** The height of all rows. */
  total: ComputedRef<number>
  /** Pixels from the first row. */
  startOf: (row: number) => number
  /** Scrolls to so many pixels from the first row. */
  moveTo: (pixels: number) => void
  /** Scrolls to a row, at the top below the heading of its step or in the middle, whatever the heights of those around it. */
  scrollTo: (row: number, align: 'start' | 'center') => void
  /** Measures the drawn row of a line that may not have the usual height; its `data-index` is the row. */
  measure: (element: HTMLElement) => void
  /** Forgets what was measured. */
  reset: () => void
}

interface Options extends PlacedRows {
  scroller: Ref<HTMLElement | undefined>
}

/** Which rows of a log are drawn, and where. New lines cost the same however many there are. */
export function useLogRows({ scroller, ...placed }: Options): DrawnRows {
  const { shown, headingPixels } = placed
  const places = usePlaces(placed)
  const { total, startOf, heightOf, keyOf } = places
  const { scrolled, viewPixels, observe } = useScroller(scroller, setHeight)

  const top = computed(() => firstIndex(shown.value.count, (row) => startOf(row + 1) > scrolled.value))
  const rows = computed(() => {
    const { count } = shown.value
    const below = firstIndex(count, (row) => startOf(row) >= scrolled.value + viewPixels.value)
    const from = Math.max(0, top.value - OVERSCAN_ROWS)
    return Array.from({ length: Math.min(count, below + OVERSCAN_ROWS) - from }, (_, at) => {
      const index = from + at
      return { index, key: keyOf(index), start: startOf(index) }
    })
  })

  function moveTo(pixels: number): void {
    grown = 0
    scroller.value!.scrollTop = pixels
    scrolled.value = scroller.value!.scrollTop
  }

  /** How much higher what is above the view has become; what is in view stays there. */
  let grown = 0
  function setHeight(element: HTMLElement): void {
    const row = Number(element.dataset['index'])
    if (row >= shown.value.count) return
    const isAbove = startOf(row) < scrolled.value
    const change = places.setHeight(row, element.offsetHeight)
    if (change === 0 || !isAbove) return
    grown += change
    void nextTick(() => {
      if (grown !== 0 && scroller.value) moveTo(scroller.value.scrollTop + grown)
    })
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
    rows,
    top,
    total,
    startOf,
    moveTo,
    scrollTo: (row, align) => void scrollTo(row, align),
    measure(element) {
      setHeight(element)
      observe(element)
    },
    reset: places.reset,
  }
}

/** How many headings stay at the top of the view above a row. */
function headingsAbove({ sections, placeAt }: LogRows, row: number): number {
  const { start, headings } = sections[placeAt(row)]!
  return row < start + headings ? 0 : headings
}

interface Scroller {
  /** How many pixels are above the view. */
  scrolled: Ref<number>
  /** The height of the view. */
  viewPixels: Ref<number>
  observe: (row: HTMLElement) => void
}

/** Follows where the scroller is and how high it is, and calls back when a row that is observed changes its height. */
function useScroller(scroller: Ref<HTMLElement | undefined>, onResize: (row: HTMLElement) => void): Scroller {
  const scrolled = ref(0)
  const viewPixels = ref(0)
  const known = new WeakSet<HTMLElement>()
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target === scroller.value) viewPixels.value = scroller.value.clientHeight
      else if (target.isConnected) onResize(target as HTMLElement)
      else sizes.unobserve(target)
    }
  })
  const onScroll = (): void => void (scrolled.value = scroller.value!.scrollTop)
  watch(scroller, (now, before) => {
    before?.removeEventListener('scroll', onScroll)
    if (!now) return
    now.addEventListener('scroll', onScroll, { passive: true })
    viewPixels.value = now.clientHeight
    sizes.observe(now)
  })
  onScopeDispose(() => sizes.disconnect())
  return {
    scrolled,
    viewPixels,
    observe(row) {
      // To observe again would call back again.
      if (known.has(row)) return
      known.add(row)
      sizes.observe(row)
    },
  }
}
