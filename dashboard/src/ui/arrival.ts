import { nextTick, onMounted, ref, watch, type Ref } from 'vue'

/** Counts the moves from page to page. */
const moves = ref(0)
/** Whether the heading of the page that was moved to is still to come. */
let isDue = false
/** What had the focus when the move was over. */
let focused: Element | null = null

/** To be told after each move to another page. */
export function arrived(): void {
  moves.value++
  isDue = true
  focused = document.activeElement
}

/**
 * Gives the focus to a page's heading after a move to the page: who cannot see it is told where they are, and the
 * keyboard goes on from there. A heading that comes late takes it only from where it was, not from what was chosen since.
 */
export function useArrival(heading: Readonly<Ref<HTMLElement | null>>): void {
  function take(): void {
    if (!isDue || !heading.value) return
    isDue = false
    const isElsewhere = document.activeElement !== document.body && document.activeElement !== focused
    if (!isElsewhere) heading.value.focus({ preventScroll: true })
  }
  onMounted(take)
  watch(moves, take, { flush: 'post' })
}

/**
 * What the focus goes back to when something that covers the page is closed: where it was, a menu's button for an entry of
 * the menu, the heading for what is gone. After a move it stays where the move has put it.
 */
export function rememberFocus(): () => void {
  const move = moves.value
  const opener = openerOf(document.activeElement)
  return () => {
    if (moves.value !== move) return
    const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body
    if (isThere) void nextTick(() => giveFocus(opener))
    else focusHeading()
  }
}

/** What a question was asked about goes within this time, or by somebody else's doing. */
const GOES_WITHIN_MS = 10_000

/** What a question was asked about may go with its opener a moment later; the focus is then led to the heading. */
function giveFocus(opener: HTMLElement): void {
  if (!opener.isConnected) return focusHeading()
  opener.focus({ preventScroll: true })
  const watching = new MutationObserver(() => {
    if (document.activeElement === opener) return
    end()
    if (!opener.isConnected && document.activeElement === document.body) focusHeading()
  })
  const end = () => watching.disconnect()
  watching.observe(document.body, { childList: true, subtree: true })
  // Whoever moves on is not led back.
  addEventListener('focusin', end, { once: true })
  setTimeout(end, GOES_WITHIN_MS)
}

/** Leads the focus from something that goes away to the page's heading. */
export function focusHeading(): void {
  void nextTick(() => document.querySelector('h1')?.focus({ preventScroll: true }))
}

/** Leads the focus to the page's heading where what had it goes away with the next drawing. */
export async function keepFocus(): Promise<void> {
  await nextTick()
  if (document.activeElement === document.body) focusHeading()
}

function openerOf(element: Element | null): Element | null {
  const menu = element?.closest('[role=menu]')
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : element
}
