import { nextTick, onMounted, ref, watch, type Ref } from 'vue'

/** Counts navigations from page to page. */
const moves = ref(0)
/** Whether the heading of the new page has yet to appear. */
let isDue = false
/** What had the focus when the navigation finished. */
let focused: Element | null = null

/** Must be called after each navigation to another page. */
export function arrived(): void {
  moves.value++
  isDue = true
  focused = document.activeElement
}

/**
 * Focuses the heading of a page after navigation to it: a screen reader announces the page, and the keyboard continues
 * from there. A heading that appears late takes the focus only if it has not moved since.
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
 * Returns the focus when something that covers the page is closed: to where it was, to the button of a menu if an entry
 * opened it, or to the heading if its origin is gone. After navigation it stays where that put it.
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

/** What a dialog was about disappears within this time, or because of someone else. */
const GOES_WITHIN_MS = 10_000

/** The element that opened a dialog may disappear a moment later; the focus then moves to the heading. */
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
  // If the focus moves on, it is not moved back.
  addEventListener('focusin', end, { once: true })
  setTimeout(end, GOES_WITHIN_MS)
}

/** Moves the focus from something that disappears to the heading of the page. */
export function focusHeading(): void {
  void nextTick(() => document.querySelector('h1')?.focus({ preventScroll: true }))
}

/** Moves the focus to the heading of the page if the focused element disappears with the next render. */
export async function keepFocus(): Promise<void> {
  await nextTick()
  if (document.activeElement === document.body) focusHeading()
}

function openerOf(element: Element | null): Element | null {
  const menu = element?.closest('[role=menu]')
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : element
}
