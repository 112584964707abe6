/** Which page was fetched anew last; src/first-code.js keeps it too. */
const KEY = 'fetched anew'

/** Loads the page at a path anew, unless it has just been; answers whether it does. */
export function fetchAnewOnce(path: string): boolean {
  try {
    if (sessionStorage.getItem(KEY) === path) return false
    sessionStorage.setItem(KEY, path)
  } catch {
    // Storage can be forbidden, and without it the page would be fetched again and again.
    return false
  }
  location.assign(path)
  return true
}

/** To be told when a page has been loaded. */
export function wasLoaded(): void {
  try {
    sessionStorage.removeItem(KEY)
  } catch {
    // As above.
  }
}
