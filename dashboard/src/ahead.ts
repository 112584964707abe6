import { dataRead } from './api/resource.ts'
import { idle } from './ui/idle.ts'

type Load<T> = () => Promise<T>

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
 * Loads all such code, so that it is there when the server is not reachable: after the page's first data, one file after
 * the other, each when the browser is idle, and so after it has drawn.
 */
export async function loadAhead(): Promise<void> {
  await idle()
  await dataRead()
  for (const load of loads) {
    await idle()
    await load().catch(() => {})
  }
}
