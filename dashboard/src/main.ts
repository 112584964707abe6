import './style.css'
import { createApp } from 'vue'
import App from './App.vue'
import { router } from './router.ts'
import { applyTheme } from './ui/theme.ts'

applyTheme()
createApp(App).use(router).mount('#app')

// The first page, or why there is none, replaces what the document shows until then. A rule with `:has(main)` would do that too,
// and make the browser search the whole page again whenever a text in it changes.
void router
  .isReady()
  .catch(() => {})
  .then(() => document.getElementById('loading')?.remove())
