import { ref, watch, type Ref } from 'vue'

/** A choice that is kept in this browser. */
export function remembered(key: string, fallback: boolean): Ref<boolean> {
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
