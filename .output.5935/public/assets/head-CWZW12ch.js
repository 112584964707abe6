// Runs before the first paint, so that a dark page never flashes light.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('theme')
  } catch {
    // Storage can be forbidden; the system's preference is used then.
  }
  const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
})()
// Fetches a page anew whose code could not be loaded, once. Runs before any module, whose own code may be what is missing.
;(() => {
  /** Which page was fetched anew last. */
  const KEY = 'fetched anew'

  globalThis.fetchAnew = {
    once(path) {
      try {
        if (sessionStorage.getItem(KEY) === path) return false
        sessionStorage.setItem(KEY, path)
      } catch {
        // Storage can be forbidden, and without it the page would be fetched again and again.
        return false
      }
      // To its own address with a hash a page only scrolls.
      if (path === location.pathname + location.search + location.hash) location.reload()
      else location.assign(path)
      return true
    },
    loaded() {
      try {
        sessionStorage.removeItem(KEY)
      } catch {
        // As above.
      }
    },
  }

  // Without its first code a page stays empty.
  addEventListener(
    'error',
    ({ target }) => {
      if (!(target instanceof HTMLScriptElement)) return
      const isTried = !fetchAnew.once(location.pathname + location.search + location.hash)
      if (isTried) document.getElementById('unloaded').hidden = false
    },
    true,
  )
})()
