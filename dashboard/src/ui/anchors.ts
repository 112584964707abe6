import { nextTick, onMounted, onScopeDispose, ref, watch, type Ref } from 'vue'
import { useRoute } from 'vue-router'

/** How far below the top of the window a section counts as being read, in pixels: below the header of a phone. */
const READ_AT_PX = 140

/** Scrolls to the heading that the address names once it is there, and moves the focus to it. */
export function useAnchor(isReady: () => boolean): void {
  const route = useRoute()
  watch(
    [() => route.path + route.hash, isReady],
    () => {
      if (isReady() && route.hash.length > 1) showAnchor(route.hash.slice(1))
    },
    { immediate: true, flush: 'post' },
  )
}

/** Scrolls to a heading and moves the focus there, or to the field of its section with this label. */
export function showAnchor(id: string, label?: string): void {
  const heading = document.getElementById(id)
  if (!heading?.matches('h2, h3')) return
  const field = label === undefined ? undefined : fieldOf(heading, label)
  heading.scrollIntoView({ block: 'start' })
  heading.tabIndex = -1
  ;(field ?? heading).focus({ preventScroll: field === undefined })
  field?.scrollIntoView({ block: 'center' })
}

function fieldOf(heading: HTMLElement, label: string): HTMLElement | undefined {
  const section = heading.closest('section, form')
  const labels = section?.querySelectorAll<HTMLLabelElement>('label') ?? []
  const control = [...labels].find((each) => each.textContent?.trim().startsWith(label))?.control
  return control instanceof HTMLElement ? control : undefined
}

/** Which of these headings is being read: the last one that has come to the top, or at the page's end what the address names. */
export function useReading(ids: () => readonly string[]): Ref<string | undefined> {
  const route = useRoute()
  const reading = ref<string>()

  function look(): void {
    const places = ids().flatMap((id) => {
      const top = document.getElementById(id)?.getBoundingClientRect().top
      return top === undefined ? [] : [{ id, top }]
    })
    const named = places.find(({ id }) => `#${id}` === route.hash)
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2
    // The last ones cannot be scrolled to the top.
    if (isAtEnd && named && named.top < innerHeight) reading.value = named.id
    else if (isAtEnd && scrollY > 0) reading.value = places.at(-1)?.id
    else reading.value = (places.findLast(({ top }) => top < READ_AT_PX) ?? places[0])?.id
  }
  addEventListener('scroll', look, { passive: true })
  addEventListener('resize', look)
  onScopeDispose(() => {
    removeEventListener('scroll', look)
    removeEventListener('resize', look)
  })
  onMounted(look)
  watch([ids, () => route.hash], () => void nextTick(look))
  return reading
}
