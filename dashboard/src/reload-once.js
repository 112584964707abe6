// Reloads a page whose code could not be loaded, once. Runs before any module, since the missing code may be theirs.
;(() => {
  /** The page that was reloaded last. */
  const KEY = 'reloaded once'

  globalThis.reloadOnce = {
    at(path) {
      try {
        if (sessionStorage.getItem(KEY) === path) return false
        sessionStorage.setItem(KEY, path)
      } catch {
        // Storage can be blocked, and without it the page would reload again and again.
        return false
      }
      // Going to its own address with a hash would only scroll the page.
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

  // Without its first script a page stays empty.
  addEventListener(
    'error',
    ({ target }) => {
      if (!(target instanceof HTMLScriptElement)) return
      const isTried = !reloadOnce.at(location.pathname + location.search + location.hash)
      if (!isTried) return
      document.getElementById('unloaded').hidden = false
      document.getElementById('loading')?.remove()
    },
    true,
  )
})()
