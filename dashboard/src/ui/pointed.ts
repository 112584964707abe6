import { watch, type Ref } from 'vue'

const hover = matchMedia('(hover: hover)')

/**
 * Gives the row of a list at which the pointer is the attribute `data-pointed`, which its look goes by instead of `:hover`: only
 * while the page rests. Each mark on a row that passes under the pointer would have the browser paint all others again. Returns
 * what is to be called when the pointer has come to another element.
 */
export function usePointed(list: Readonly<Ref<HTMLElement | null>>, isScrolling: Ref<boolean>): () => void {
  let pointed: Element | null = null

  function point(): void {
    if (isScrolling.value || !hover.matches) return
    mark(list.value?.querySelector('[role=listitem]:hover') ?? null)
  }

  function mark(row: Element | null): void {
    if (row === pointed) return
    pointed?.removeAttribute('data-pointed')
    row?.setAttribute('data-pointed', '')
    pointed = row
  }

  watch(isScrolling, (isScrolling) => (isScrolling ? mark(null) : point()))
  return point
}
