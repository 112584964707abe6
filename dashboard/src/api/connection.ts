import { readonly, ref } from 'vue'

/** Between two questions whether the server is back. */
const PROBE_MS = 1_000
/** A question without an answer after this long is a no. */
const PROBE_LIMIT_MS = 3_000
/** A server that is started anew is back sooner, and nobody need be told. */
const NOTICE_AFTER_MS = 3_000

const lost = ref(false)
const noticed = ref(false)
const listeners = new Set<() => void>()
let probing: ReturnType<typeof setTimeout> | undefined
let noticing: ReturnType<typeof setTimeout> | undefined
/** When it was last said that the server answers again. */
let backAt = -Infinity

/** Whether the server answers, by what every request, the change feed and the loading of code see. */
export const connection = {
  /** The newest attempt to reach the server failed. */
  lost: readonly(lost),
  /** It has failed for so long that the reader should know. */
  noticed: readonly(noticed),

  /**
   * To be told by whoever got an answer, whatever it says. A request that fails each time would be sent again with every
   * answer to another, were it said more often than the server is asked.
   */
  answered(): void {
    if (performance.now() - backAt >= PROBE_MS) back()
  },

  /** To be told by whoever got none; from then on the server is asked until it answers. */
  failed(): void {
    if (lost.value) return
    lost.value = true
    noticing = setTimeout(() => (noticed.value = true), NOTICE_AFTER_MS)
    probeLater()
  },

  /** Asks the server now. */
  async probe(): Promise<boolean> {
    const answer = await fetch('/healthz', {
      cache: 'no-store',
      signal: AbortSignal.timeout(PROBE_LIMIT_MS),
    }).catch(() => null)
    if (answer?.ok) back()
    else connection.failed()
    return answer?.ok ?? false
  },

  /** Calls `listener` each time the server answers again, as long as the page lives. */
  onBack(listener: () => void): void {
    listeners.add(listener)
  },
}

function back(): void {
  if (!lost.value) return
  clearTimeout(probing)
  clearTimeout(noticing)
  lost.value = false
  noticed.value = false
  backAt = performance.now()
  for (const listener of listeners) listener()
}

async function probeUntilBack(): Promise<void> {
  if (!(await connection.probe())) probeLater()
}

function probeLater(): void {
  probing = setTimeout(() => void probeUntilBack(), PROBE_MS)
}
