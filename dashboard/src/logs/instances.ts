import { computed, type ComputedRef, type Ref } from 'vue'
import type { LogLine } from './line.ts'
import { firstIndex } from './row-heights.ts'

/** Whether the lines come from more than one instance. Each line is looked at once, however many there are and however often some come. */
export function useManyInstances(lines: Readonly<Ref<LogLine[]>>): ComputedRef<boolean> {
  let reading: readonly LogLine[] = []
  let read = 0
  /** The last line of an instance. */
  let last: LogLine | undefined
  /** The number of the newest such line that is followed by one of another instance. */
  let changed = 0
  return computed(() => {
    if (lines.value !== reading) {
      reading = lines.value
      read = changed = 0
      last = undefined
    }
    for (
      let at = firstIndex(reading.length, (index) => reading[index]!.number > read);
      at < reading.length;
      at++
    ) {
      const line = reading[at]!
      read = line.number
      if (line.instance === null) continue
      if (last && last.instance !== line.instance) changed = last.number
      last = line
    }
    return changed >= (reading[0]?.number ?? Infinity)
  })
}
