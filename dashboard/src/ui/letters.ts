import { ref, type Ref } from 'vue'

/** The font size of the page, unless the user has set another one in the browser (style.css). */
const USUAL_PX = 14

let known: Ref<number> | undefined

/** The user's font size relative to the usual one, kept up to date; for what is drawn or placed in pixels. */
export function useLetterScale(): Readonly<Ref<number>> {
  if (known) return known
  const scale = ref(letterScale())
  // Browsers fire no event when the user changes the font size, but this element grows with it.
  const probe = document.createElement('div')
  probe.className = 'invisible fixed top-0 left-0 w-[1rem]'
  document.body.append(probe)
  new ResizeObserver(() => (scale.value = letterScale())).observe(probe)
  return (known = scale)
}

function letterScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_PX
}
