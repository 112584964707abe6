import { onScopeDispose, ref, watch, type Ref } from 'vue'

/** How long after it was moved last. */
const REST_MS = 150

/**
 * Whether somebody scrolls something; what the page moves by itself does not count. What passes under the pointer should not be marked
 * meanwhile: each mark would have the browser paint much of the page again, in each frame. It ends with what may begin a
 * selection or move the focus.
 */
export function useScrolling(
  scroller: () => EventTarget | undefined,
  isMovedByPage: () => boolean = () => false,
): Ref<boolean> {
  const isScrolling = ref(false)
  let movedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function onScroll(): void {
    if (isMovedByPage()) return
    movedAt = performance.now()
    isScrolling.value = true
    timer ??= setTimeout(look, REST_MS)
  }

  function look(): void {
    const left = movedAt + REST_MS - performance.now()
    timer = left > 0 ? setTimeout(look, left) : undefined
    if (!timer) isScrolling.value = false
  }

  function onPress(event: PointerEvent | KeyboardEvent): void {
    if (event.type === 'pointerdown' || (event as KeyboardEvent).key === 'Tab') isScrolling.value = false
  }

  watch(
    scroller,
    (now, _before, onCleanup) => {
      now?.addEventListener('scroll', onScroll, { passive: true })
      onCleanup(() => now?.removeEventListener('scroll', onScroll))
    },
    { immediate: true },
  )
  addEventListener('pointerdown', onPress, { capture: true, passive: true })
  addEventListener('keydown', onPress, { capture: true, passive: true })
  onScopeDispose(() => {
    clearTimeout(timer)
    removeEventListener('pointerdown', onPress, { capture: true })
    removeEventListener('keydown', onPress, { capture: true })
  })
  return isScrolling
}
