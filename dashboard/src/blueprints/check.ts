import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { api, ApiError, problemText } from '../api/client.ts'
import type { BlueprintResult, FaultDetail } from '../api/types.ts'

/** What is sent along with the text. */
export interface BlueprintContext {
  environment?: string
  repo_url?: string
  branch?: string
}

/** What the server says about the current text. */
export interface Check {
  plan: ShallowRef<BlueprintResult | null>
  faults: ShallowRef<readonly FaultDetail[]>
  problem: Ref<string | null>
  /** Whether the text has changed since. */
  isStale: Ref<boolean>
  /** Asks at once. */
  now: () => void
}

/** How long typing has to pause before the text is checked. */
const PAUSE_MS = 500

/** Plans a text on the server whenever it changes, so that its errors and its plan are always current. */
export function useCheck(text: Ref<string>, context: Ref<BlueprintContext>): Check {
  const plan = shallowRef<BlueprintResult | null>(null)
  const faults = shallowRef<readonly FaultDetail[]>([])
  const problem = ref<string | null>(null)
  const isStale = ref(true)
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: AbortController | null = null

  async function look(): Promise<void> {
    running?.abort()
    const attempt = (running = new AbortController())
    const body = { yaml: text.value, dry_run: true, ...context.value }
    try {
      settle(await api('POST /blueprints/apply', { body, signal: attempt.signal }), [], null)
    } catch (error) {
      if (attempt.signal.aborted) return
      const details = error instanceof ApiError ? error.details : []
      settle(null, details, details.length > 0 ? null : problemText(error))
    }
  }

  function settle(found: BlueprintResult | null, wrong: readonly FaultDetail[], why: string | null): void {
    plan.value = found
    faults.value = wrong
    problem.value = why
    isStale.value = false
  }

  function later(): void {
    isStale.value = true
    running?.abort()
    clearTimeout(timer)
    if (isBlank(text.value)) settle(null, [], null)
    else timer = setTimeout(() => void look(), PAUSE_MS)
  }

  watch([text, context], later, { immediate: true })
  onScopeDispose(() => {
    clearTimeout(timer)
    running?.abort()
  })
  return { plan, faults, problem, isStale, now: () => void look() }
}

/** Whether there is nothing in a text but blank lines and comments. */
function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(?:#|$)/.test(line))
}
