import { onScopeDispose, ref, watch, type Ref } from 'vue'

/** How long after it was moved last. */
const REST_MS = 150

/**
 * Whether something is being scrolled. What passes under the pointer should not be marked meanwhile: each mark would have the
 * browser paint much of the page again, in each frame. A press ends it, since that may begin a selection.
 */
export function useScrolling(scroller: () => EventTarget | undefined): Ref<boolean> {
  const isScrolling = ref(false)
  let movedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function onScroll(): void {
    movedAt = performance.now()
    isScrolling.value = true
    timer ??= setTimeout(look, REST_MS)
  }

  function look(): void {
    const left = movedAt + REST_MS - performance.now()
    timer = left > 0 ? setTimeout(look, left) : undefined
    if (!timer) isScrolling.value = false
  }

  function onPress(): void {
    isScrolling.value = false
  }

  watch(
    scroller,
    (now, _before, onCleanup) => {
      now?.addEventListener('scroll', onScroll, { passive: true })
      now?.addEventListener('pointerdown', onPress, { passive: true })
      onCleanup(() => {
        now?.removeEventListener('scroll', onScroll)
        now?.removeEventListener('pointerdown', onPress)
      })
    },
    { immediate: true },
  )
  onScopeDispose(() => clearTimeout(timer))
  return isScrolling
}
