/** How long to wait in a browser that cannot report that it is idle. */
const IDLE_AFTER_MS = 200

/** Resolves once the browser has nothing else to do, and so after it has drawn; in Safari, which cannot tell, a moment later. */
export function idle(): Promise<unknown> {
  return 'requestIdleCallback' in window
    ? new Promise((resolve) => requestIdleCallback(resolve))
    : new Promise((resolve) => setTimeout(resolve, IDLE_AFTER_MS))
}
