import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'

interface Editing<T> {
  /** Whether the dialog is open. */
  isOpen: Ref<boolean>
  /** What it changes; null for something new. */
  present: ShallowRef<T | null>
  edit: (entry: T | null) => void
}

/** The dialog of a list, which creates an entry or changes one. */
export function useEditing<T>(): Editing<T> {
  const isOpen = ref(false)
  const present = shallowRef<T | null>(null)
  return {
    isOpen,
    present,
    edit: (entry) => {
      present.value = entry
      isOpen.value = true
    },
  }
}
