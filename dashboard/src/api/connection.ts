import { readonly, ref } from 'vue'

/** How often to ask whether the server is back. */
const PROBE_MS = 1_000
/** Between two probes while somebody waits for the answer. */
const RETRY_MS = 250
/** A probe without an answer after this long has failed. */
const PROBE_LIMIT_MS = 3_000
/** A server that restarts is back sooner, and needs no notice. */
const NOTICE_AFTER_MS = 3_000

const lost = ref(false)
const noticed = ref(false)
const listeners = new Set<() => void>()
/** Who waits for the server to answer again. */
const waiting = new Set<() => void>()
let probing: ReturnType<typeof setTimeout> | undefined
let noticing: ReturnType<typeof setTimeout> | undefined
/** When listeners were last told that the server answers again. */
let backAt = -Infinity

/** Whether the server answers, as seen by every request, the change feed and the loading of code. */
export const connection = {
  /** The newest attempt to reach the server failed. */
  lost: readonly(lost),
  /** It has failed for so long that the user should know. */
  noticed: readonly(noticed),

  /**
   * Called by each caller that got a response, whatever its status. Ignored if the server was just found to be back: a
   * request that always fails would otherwise be sent again with each response to another request.
   */
  answered(): void {
    if (performance.now() - backAt >= PROBE_MS) back()
  },

  /** Called by each caller that got no response; from then on the server is probed until it answers. */
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

  /** Whether the server answers now, or within the time in which a server that restarts needs no notice. */
  async answersSoon(): Promise<boolean> {
    const since = performance.now()
    while (!(await connection.probe())) {
      if (performance.now() - since > NOTICE_AFTER_MS) return false
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
    return true
  },

  /** Resolves once the server answers: at once, unless the newest attempt to reach it failed. */
  answers(): Promise<void> {
    return lost.value ? new Promise((resolve) => waiting.add(resolve)) : Promise.resolve()
  },

  /** Calls `listener` each time the server answers again, for the lifetime of the page. */
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
  for (const listener of [...listeners, ...waiting]) listener()
  waiting.clear()
}

async function probeUntilBack(): Promise<void> {
  if (!(await connection.probe())) probeLater()
}

function probeLater(): void {
  probing = setTimeout(() => void probeUntilBack(), PROBE_MS)
}
