import { ref, watch, type Ref } from 'vue'
import { api, problemText } from '../api/client.ts'
import type { Branches } from '../api/types.ts'

/** What a repository answered. */
export interface BranchesState {
  found: Ref<Branches | null>
  /** Why it could not be read. */
  problem: Ref<string | null>
  asking: Ref<boolean>
}

/** The remote is asked when typing has paused. */
const PAUSE_MS = 600

const ADDRESS = /^(https?|ssh|git):\/\/\S+\/\S+|^[\w.-]+@[\w.-]+:\S+$/

/** Asks a repository for its branches whenever its address changes, which also shows whether it can be read. */
export function useBranches(address: () => string): BranchesState {
  const found = ref<Branches | null>(null)
  const problem = ref<string | null>(null)
  const asking = ref(false)
  watch(
    () => address().trim(),
    (url, _, onCleanup) => {
      found.value = null
      problem.value = null
      asking.value = false
      if (!ADDRESS.test(url)) return
      const stop = new AbortController()
      const timer = setTimeout(() => void ask(url, stop.signal), PAUSE_MS)
      onCleanup(() => {
        clearTimeout(timer)
        stop.abort()
      })
    },
    { immediate: true },
  )
  return { found, problem, asking }

  async function ask(url: string, signal: AbortSignal): Promise<void> {
    asking.value = true
    try {
      found.value = await api('GET /git/branches', { query: { repo_url: url }, signal })
    } catch (error) {
      if (!signal.aborted) problem.value = problemText(error)
    }
    if (!signal.aborted) asking.value = false
  }
}
