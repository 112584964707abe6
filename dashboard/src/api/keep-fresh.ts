import { onScopeDispose } from 'vue'

/** How often there is something new of what the server tells nobody: it measures every 10 s. */
const FRESH_MS = 10_000

/** Asks again as long as the page is looked at. */
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
