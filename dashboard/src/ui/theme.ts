import { computed, ref, watch, watchEffect } from 'vue'

export type ThemeChoice = 'system' | 'light' | 'dark'

const KEY = 'theme'
const system = matchMedia('(prefers-color-scheme: dark)')
const systemDark = ref(system.matches)
system.addEventListener('change', (event) => (systemDark.value = event.matches))

/** What the user chose; the page follows the system until then. src/theme.js applies it before the first paint. */
export const theme = ref<ThemeChoice>(stored())

/** Whether the page is dark now. */
export const isDark = computed(() => theme.value === 'dark' || (theme.value === 'system' && systemDark.value))

export function applyTheme(): void {
  watchEffect(() => document.documentElement.classList.toggle('dark', isDark.value))
  // Only a choice is stored: a change of the system must not undo what was chosen in another tab.
  watch(theme, store)
  addEventListener('storage', (event) => {
    if (event.key === KEY) theme.value = stored()
  })
}

function store(choice: ThemeChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, choice)
  } catch {
    // Storage can be blocked; the choice then lasts until the page is left.
  }
}

function stored(): ThemeChoice {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}
