type Load<T> = () => Promise<T>

/** How long to wait in a browser that cannot report that it is idle. */
const IDLE_AFTER_MS = 1_000

const loads: Load<unknown>[] = []

/** Code that is loaded when it is first needed, or before that by `loadAhead`. */
export function ahead<T>(load: Load<T>): Load<T> {
  const begun = () => {
    const loading = load()
    // The router may start to load and then drop the navigation, and never handle the rejection.
    loading.catch(() => {})
    return loading
  }
  loads.push(begun)
  return begun
}

/**
 * Loads all such code once the browser is idle, piece by piece, so that it is there when the server is not reachable.
 */
export function loadAhead(): void {
  const begin = async () => {
    for (const load of loads) await load().catch(() => {})
  }
  // Safari has no requestIdleCallback.
  if ('requestIdleCallback' in window) requestIdleCallback(() => void begin())
  else setTimeout(() => void begin(), IDLE_AFTER_MS)
}
