import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue'

/** What has something done before the next frame is drawn, as a window does. */
export interface Frames {
  requestAnimationFrame(callback: () => void): number
  cancelAnimationFrame(id: number): void
}

/**
 * Follows the entries of a list, of which some are replaced by newer ones. So many of these at most become visible in each frame,
 * the first first: no frame has to render all rows of a long list again. Entries that come, go or move do so at once.
 */
export function useGradual<Entry extends { id: string }>(
  entries: () => readonly Entry[],
  step: number,
  frames: Frames,
): ShallowRef<readonly Entry[]> {
  const shown = shallowRef(entries())
  let frame = 0

  function replace(): void {
    const [now, before] = [entries(), shown.value]
    const first = now.findIndex((entry, at) => entry !== before[at])
    if (first < 0) return
    shown.value = [...now.slice(0, first + step), ...before.slice(first + step)]
    frame = frames.requestAnimationFrame(replace)
  }

  watch(entries, (now) => {
    frames.cancelAnimationFrame(frame)
    if (hasOrderOf(now, shown.value)) replace()
    else shown.value = now
  })
  onScopeDispose(() => frames.cancelAnimationFrame(frame))
  return shown
}

function hasOrderOf(one: readonly { id: string }[], other: readonly { id: string }[]): boolean {
  return one.length === other.length && one.every(({ id }, at) => id === other[at]!.id)
}
