import { onScopeDispose } from 'vue'

/** How often to reload data that the change feed does not cover: the server measures every 10 s. */
const FRESH_MS = 10_000

/** Reloads as long as the page is visible. */
export function keepFresh(reload: () => void): void {
  const look = () => {
    if (!document.hidden) reload()
  }
  const timer = setInterval(look, FRESH_MS)
  document.addEventListener('visibilitychange', look)
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
  })
}
