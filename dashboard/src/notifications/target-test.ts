import { ref } from 'vue'
import { problemText } from '../api/client.ts'
import type { TestResult } from '../api/types.ts'
import { toast } from '../ui/toasts.ts'
import { reasonText } from './reason.ts'

/** Sends a test and tells how it ended; `testing` names what is tested now. */
export function useTargetTest(send: (id: string) => Promise<TestResult>) {
  const testing = ref<string | null>(null)

  async function test(id: string): Promise<void> {
    testing.value = id
    try {
      const { ok, error } = await send(id)
      if (ok) toast.done('The test was taken.')
      else
        toast.problem(`The test was not taken: ${error === null ? 'no reason was given' : reasonText(error)}`)
    } catch (failure) {
      toast.problem(problemText(failure))
    } finally {
      testing.value = null
    }
  }

  return { testing, test }
}
