import { nextTick, onScopeDispose, ref, watch, type Ref } from 'vue'

export interface Scroller {
  /** How many pixels are above the view. */
  scrolled: Ref<number>
  /** The height of the view. */
  viewPixels: Ref<number>
  /** The heights of its paddings together. */
  padding: Ref<number>
  observe: (row: HTMLElement) => void
  /** Scrolls to so many pixels from the first row. */
  moveTo: (pixels: number) => void
  /** Whether it is where the page has moved it, and nobody has scrolled it since. */
  isMovedByPage: () => boolean
  /** Scrolls on once rows have become so much higher that are above the view: what is in view stays there. */
  moveBy: (change: number) => void
}

/** Follows where the scroller is and how high it is, and calls back when a row that is observed changes its height. */
export function useScroller(
  scroller: Ref<HTMLElement | undefined>,
  onResize: (row: HTMLElement) => void,
): Scroller {
  const [scrolled, viewPixels, padding] = [ref(0), ref(0), ref(0)]
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
    const { paddingTop, paddingBottom } = getComputedStyle(now)
    padding.value = Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom)
    sizes.observe(now)
  })
  onScopeDispose(() => sizes.disconnect())

  let grown = 0
  let movedTo = -1
  function moveTo(pixels: number): void {
    grown = 0
    scroller.value!.scrollTop = pixels
    scrolled.value = movedTo = scroller.value!.scrollTop
  }

  function moveBy(change: number): void {
    if (change === 0) return
    grown += change
    void nextTick(() => {
      if (grown !== 0 && scroller.value) moveTo(scroller.value.scrollTop + grown)
    })
  }

  return {
    scrolled,
    viewPixels,
    padding,
    observe(row) {
      // To observe again would call back again.
      if (known.has(row)) return
      known.add(row)
      sizes.observe(row)
    },
    moveTo,
    isMovedByPage: () => scroller.value?.scrollTop === movedTo,
    moveBy,
  }
}
