import { nextTick, watch, type Ref } from 'vue'
import type { LogRows } from './groups.ts'
import type { LogLine } from './line.ts'
import { firstIndex } from './row-heights.ts'
import type { DrawnRows } from './rows.ts'

/** Closer to the end than this counts as being at the end. */
const NEAR_END_PX = 24

interface Options {
  scroller: Ref<HTMLElement | undefined>
  lines: Readonly<Ref<LogLine[]>>
  shown: Readonly<Ref<LogRows>>
  drawn: DrawnRows
  /** Whether the end of the log stays in view. */
  following: Ref<boolean>
}

export interface Staying {
  /** Scrolls to the end of the log if that stays in view. */
  stickToEnd: () => void
  /** The end of the log stays in view from now on. */
  toEnd: () => Promise<void>
  onScroll: () => void
  /** Changes the heights of rows; the line that the user is at stays at the top. */
  changeHeights: () => Promise<void>
}

/** Keeps in view what the user looks at, whatever comes or folds above it: the end of the log, or another place. */
export function useStaying({ scroller, lines, shown, drawn, following }: Options): Staying {
  function stickToEnd(): void {
    if (following.value && scroller.value) drawn.moveTo(scroller.value.scrollHeight)
  }

  // The rows at the end are drawn once, and not first where the log was scrolled to before lines came.
  watch([lines, drawn.total], () => following.value && drawn.drawEnd())

  async function toEnd(): Promise<void> {
    following.value = true
    // The button goes away.
    scroller.value?.focus({ preventScroll: true })
    await nextTick()
    stickToEnd()
  }

  /** Only the user's own scrolling stops or starts following: growth of the log does not scroll by itself. */
  let lastTop = 0
  function onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = scroller.value!
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    if (atEnd) following.value = true
    else if (scrollTop < lastTop) following.value = false
    lastTop = scrollTop
  }

  /** Finds where the first row in view is once the rows have changed; -1 for nowhere. */
  let find: (() => number) | undefined
  /** How many pixels from the first row it was. */
  let start = 0
  watch([shown, lines] as const, ([, now], [, before]) => {
    // They changed again before they were drawn.
    if (find) return
    const first = scroller.value && !following.value && firstInView(scroller.value, '[data-index]')
    if (!first) return
    start = first.start
    const { step, line: number } = first.row.dataset
    // In a log that was read again, the line has another number.
    const line = now === before ? undefined : before.find((line) => line.number === Number(number))
    find = () => {
      if (step !== undefined) return shown.value.headingRowOf(step)
      const index = line ? now.findIndex((other) => isSame(other, line)) : indexOf(Number(number))
      return index < 0 ? -1 : shown.value.rowOf(index)
    }
  })
  watch(
    shown,
    () => {
      const row = find?.() ?? -1
      find = undefined
      const moved = row < 0 ? 0 : Math.round(drawn.startOf(row) - start)
      if (moved !== 0 && scroller.value) drawn.moveTo(scroller.value.scrollTop + moved)
    },
    { flush: 'post' },
  )

  /** The index of the line with this number, or of the next one if it was dropped. */
  function indexOf(number: number): number {
    return firstIndex(lines.value.length, (index) => lines.value[index]!.number >= number)
  }

  async function changeHeights(): Promise<void> {
    const first = scroller.value && !following.value && firstInView(scroller.value, '[data-line]')
    // Read now: then its element may show another line.
    const number = first ? Number(first.row.dataset['line']) : null
    drawn.reset()
    await nextTick()
    if (number !== null) drawn.scrollTo(shown.value.rowOf(indexOf(number)), 'start')
    else stickToEnd()
  }

  return { stickToEnd, toEnd, onScroll, changeHeights }
}

/** What shows the first visible row of a kind, and how many pixels from the first row of the log it starts. */
function firstInView(
  view: HTMLElement,
  kind: '[data-index]' | '[data-line]',
): { row: HTMLElement; start: number } | null {
  // A line that was scrolled to the top is below the padding.
  const top = view.getBoundingClientRect().top + Number.parseFloat(getComputedStyle(view).paddingTop)
  let first: { row: HTMLElement; start: number } | null = null
  for (const row of view.querySelectorAll<HTMLElement>(kind)) {
    const box = row.getBoundingClientRect()
    const start = box.top - top + view.scrollTop
    // Not in their order while someone scrolls.
    if (box.bottom > top + 1 && (!first || start < first.start)) first = { row, start }
  }
  return first
}

function isSame(one: LogLine, other: LogLine): boolean {
  return one.ts === other.ts && one.plain === other.plain
}
