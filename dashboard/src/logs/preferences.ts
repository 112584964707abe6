import { ref, watch, type Ref } from 'vue'

/** A choice about how logs look, kept in this browser for all logs. */
function remembered(key: string, fallback: boolean): Ref<boolean> {
  const choice = ref(read(key) ?? fallback)
  watch(choice, (value) => {
    try {
      localStorage.setItem(key, String(value))
    } catch {
      // Storage can be blocked; the choice then lasts until the page is left.
    }
  })
  return choice
}

function read(key: string): boolean | null {
  try {
    const value = localStorage.getItem(key)
    return value === null ? null : value === 'true'
  } catch {
    return null
  }
}

/** On a narrow screen lines wrap and times are left out, until the user chooses. */
const narrow = matchMedia('(max-width: 640px)').matches

export const wrapLines = remembered('log-wrap', narrow)
export const showTimes = remembered('log-times', !narrow)
