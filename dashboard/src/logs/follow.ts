import { onScopeDispose, ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { ApiError, problemText } from '../api/client.ts'
import { serverTime } from '../api/clock.ts'
import { readEvents } from '../api/event-stream.ts'
import { inOrder } from '../api/plain-text.ts'
import type { DeployStep } from '../api/types.ts'
import type { LogLine } from './line.ts'
import { LogReading } from './reading.ts'

/** Waits before a stream that was cut off is read again; the last one repeats. */
const RETRY_MS = [500, 1_000, 2_000, 5_000] as const

/**
 * `connecting` until the first answer, `following` while open, `cut` between attempts, `complete` after `end`,
 * `refused` for good.
 */
export type LogState = 'connecting' | 'following' | 'cut' | 'complete' | 'refused'

export interface FollowedLog {
  /** One array that grows in place; the reference is triggered with each batch. */
  lines: ShallowRef<LogLine[]>
  /** The steps of a deploy in the order in which they began; none in any other log. */
  steps: ShallowRef<DeployStep[]>
  state: Ref<LogState>
  problem: Ref<string | null>
  /** When it was last opened, by the server's clock. */
  openedAt: Ref<number>
  /** Reads the log again from its first line. */
  restart: () => void
}

/** Lines of a log that are kept in the page. */
const MAX_LINES = 100_000
/** More lines than the log of a deploy has room for. */
export const WHOLE_LOG = 300_000

/**
 * Follows a log stream until the component is gone. Streams carry no ids: one that stops without `end` was cut off, so
 * it is read again from its first line, and the old lines stay until the new ones have caught up. At most `maxLines` lines stay.
 */
export function followLog(
  url: () => string,
  toLine: (data: unknown, number: number) => LogLine,
  maxLines = MAX_LINES,
): FollowedLog {
  const [lines, steps] = [shallowRef<LogLine[]>([]), shallowRef<DeployStep[]>([])]
  const state = ref<LogState>('connecting')
  const problem = ref<string | null>(null)
  const openedAt = ref(serverTime())
  let stop = new AbortController()

  async function follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        if (await readOnce(signal, () => (failures = -1))) return void (state.value = 'complete')
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof ApiError) problem.value = problemText(error)
        if (isRefusal(error)) return void (state.value = 'refused')
      }
      state.value = 'cut'
      await pause(RETRY_MS[Math.min(Math.max(failures, 0), RETRY_MS.length - 1)]!, signal)
    }
  }

  /** Reads the stream to its end; resolves to whether the log has ended too. */
  async function readOnce(signal: AbortSignal, alive: () => void): Promise<boolean> {
    const reading = new LogReading({ lines, steps, maxLines }, signal)
    let number = 0
    let isOpen = false
    let isWhole = false
    const onOpen = () => {
      isOpen = true
      state.value = 'following'
      openedAt.value = serverTime()
      problem.value = null
      alive()
    }
    try {
      for await (const { event, data } of readEvents(url(), signal, onOpen)) {
        if (event === 'end') return (isWhole = true)
        if (event === 'skipped') number = addSkipped(reading, data, number)
        if (event === 'step') addStep(reading, data)
        if (event === 'log') reading.add(toLine(JSON.parse(data), ++number))
      }
      return false
    } finally {
      if (isOpen) reading.end(isWhole)
    }
  }

  function restart(): void {
    stop.abort()
    stop = new AbortController()
    for (const each of [lines, steps]) each.value = []
    problem.value = null
    state.value = 'connecting'
    void follow(stop.signal)
  }

  onScopeDispose(() => stop.abort())
  void follow(stop.signal)
  return { lines, steps, state, problem, openedAt, restart }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}

function addStep(reading: LogReading, data: string): void {
  const step = JSON.parse(data) as DeployStep
  reading.addStep({ ...step, name: inOrder(step.name) })
}

/** Adds a line that stands for those skipped after the line with this number; returns the number of the last of them. */
function addSkipped(reading: LogReading, data: string, last: number): number {
  const { count } = JSON.parse(data) as { count: number }
  const text = `${count} lines were skipped because this page could not keep up`
  const ts = new Date().toISOString()
  reading.add({ number: last + 1, ts, text, plain: text, kind: 'system', instance: null, step: null })
  return last + count
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
