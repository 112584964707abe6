import { ref, type Ref } from 'vue'
import { ApiError } from '../api/client.ts'

interface ForcedDeletion {
  /** Whether the server has refused once: the next try is meant. */
  isForced: Ref<boolean>
  /** Deletes, and throws the refusal of the first try in words for who sees a button. */
  remove: () => Promise<void>
  /** Forgets a refusal: the reader turned away. */
  reset: () => void
}

/** How the server tells programs to insist. */
const FOR_PROGRAMS = /,? or repeat with force=true/

/** A deletion that the server refuses as long as others need the thing: the refusal names them, and may be overruled. */
export function useForcedDeletion(deleteIt: (force: boolean) => Promise<void>): ForcedDeletion {
  const isForced = ref(false)
  async function remove(): Promise<void> {
    try {
      await deleteIt(isForced.value)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'conflict') throw error
      isForced.value = true
      throw new ApiError(error.status, error.code, error.message.replace(FOR_PROGRAMS, ''))
    }
  }
  return { isForced, remove, reset: () => (isForced.value = false) }
}
