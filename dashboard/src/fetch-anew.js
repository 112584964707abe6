// Without its first code a page stays empty: it is fetched anew once, and then says so.
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return
    const path = location.pathname + location.search + location.hash
    let isTried = true
    try {
      isTried = sessionStorage.getItem('fetched anew') === path
      sessionStorage.setItem('fetched anew', path)
    } catch {
      // Storage can be forbidden, and without it the page would be fetched again and again.
    }
    if (isTried) document.getElementById('unloaded').hidden = false
    else location.reload()
  },
  true,
)
