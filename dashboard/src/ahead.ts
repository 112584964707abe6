type Load<T> = () => Promise<T>

/** When a browser that cannot tell that it is idle is taken to be. */
const IDLE_AFTER_MS = 1_000

const loads: Load<unknown>[] = []

/** Code that is loaded when it is first needed, or before that by `loadAhead`. */
export function ahead<T>(load: Load<T>): Load<T> {
  const begun = () => {
    const loading = load()
    // The router begins to load before it knows that it stays, and then never looks at what became of it.
    loading.catch(() => {})
    return loading
  }
  loads.push(begun)
  return begun
}

/** Loads all such code once the browser is idle, piece by piece, so that it is there when the server is not. */
export function loadAhead(): void {
  const begin = async () => {
    for (const load of loads) await load().catch(() => {})
  }
  // Safari has no requestIdleCallback.
  if ('requestIdleCallback' in window) requestIdleCallback(() => void begin())
  else setTimeout(() => void begin(), IDLE_AFTER_MS)
}
