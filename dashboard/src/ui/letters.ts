import { ref, type Ref } from 'vue'

/** Of the page's letters where the reader has told the browser of no other size (style.css). */
const USUAL_PX = 14

let known: Ref<number> | undefined

/** How many times as large as usual the reader wants letters, as long as the page lives; for what is drawn or placed by pixels. */
export function useLetterScale(): Readonly<Ref<number>> {
  if (known) return known
  const scale = ref(letterScale())
  // A browser tells nobody that the reader has chosen another size, but this grows with it.
  const probe = document.createElement('div')
  probe.className = 'invisible fixed top-0 left-0 w-[1rem]'
  document.body.append(probe)
  new ResizeObserver(() => (scale.value = letterScale())).observe(probe)
  return (known = scale)
}

function letterScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_PX
}
