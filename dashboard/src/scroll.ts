import type { RouteLocationNormalized, RouterScrollBehavior } from 'vue-router'

type Saved = Parameters<RouterScrollBehavior>[2]

/** How long to wait until a page is as long as it was. */
const GROW_LIMIT_MS = 3_000

/** Where a page is scrolled to: where it was left when the user goes back to it, otherwise its top. */
export async function scrollTarget(
  to: RouteLocationNormalized,
  from: RouteLocationNormalized,
  saved: Saved,
): Promise<{ top: number } | false> {
  if (saved) {
    await grown(saved.top + innerHeight)
    return saved
  }
  return to.path !== from.path && { top: 0 }
}

/** Waits until the document has this height: lists load after their page. Stops when the user scrolls. */
function grown(height: number): Promise<void> {
  if (document.documentElement.scrollHeight >= height) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      observer.disconnect()
      clearTimeout(timer)
      resolve()
    }
    const observer = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight >= height) done()
    })
    observer.observe(document.body)
    const timer = setTimeout(done, GROW_LIMIT_MS)
    addEventListener('wheel', done, { once: true, passive: true })
    addEventListener('touchmove', done, { once: true, passive: true })
  })
}
