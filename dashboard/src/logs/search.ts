import { computed, ref, watch, type Ref, type ShallowRef } from 'vue'
import type { LogLine } from './line.ts'

/** A search over 100,000 lines does not run on each keystroke. */
const DEBOUNCE_MS = 150

/** Finds lines that contain a text, ignoring case, and steps from one to the next. */
export function useLogSearch(lines: ShallowRef<LogLine[]>, show: (index: number) => void) {
  const typed = ref('')
  const query = ref('')
  /** Number of the line that was stepped to; it stays right when older lines are dropped. */
  const current: Ref<number | null> = ref(null)
  let timer: ReturnType<typeof setTimeout> | undefined

  watch(typed, (text) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      query.value = text.toLowerCase()
      current.value = null
    }, DEBOUNCE_MS)
  })

  /** Indexes of the matching lines. */
  const matches = computed<number[]>(() => {
    const wanted = query.value
    if (wanted === '') return []
    const found: number[] = []
    for (const [index, line] of lines.value.entries())
      if (line.plain.toLowerCase().includes(wanted)) found.push(index)
    return found
  })
  /** Which match was stepped to, from 1; 0 for none yet. */
  const position = computed(
    () => matches.value.findIndex((index) => lines.value[index]?.number === current.value) + 1,
  )

  function step(by: 1 | -1): void {
    const count = matches.value.length
    if (count === 0) return
    const at = position.value === 0 ? (by === 1 ? 0 : count - 1) : (position.value - 1 + by + count) % count
    const index = matches.value[at]!
    current.value = lines.value[index]!.number
    show(index)
  }

  return { typed, query, matches, position, current, step }
}

export type LogSearch = ReturnType<typeof useLogSearch>
