import { ref, type Ref } from 'vue'
import { ApiError } from '../api/client.ts'

interface ForcedDeletion {
  /** Whether the server has refused once: the next attempt is forced. */
  isForced: Ref<boolean>
  /** Deletes; throws the first refusal without its advice for API clients. */
  remove: () => Promise<void>
  /** Forgets a refusal, when the dialog was closed. */
  reset: () => void
}

/** How the server tells API clients to force it. */
const FOR_PROGRAMS = /,? or repeat with force=true/

/**
 * A deletion that the server refuses while something else depends on the resource: the refusal names it, and can be
 * overridden.
 */
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
