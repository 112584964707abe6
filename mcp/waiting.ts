import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import type { ToolContext } from './tool.ts'

/** Longer than hosts wait for a tool. */
const MAX_WAIT_SECONDS = 300
const FIRST_POLL_MS = 100
const MAX_POLL_MS = 1_000

/** How long a tool waits for the end of what it started; 0 answers at once. */
export const WAIT = { wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0) }

interface Waiting<T> {
  seconds: number
  read: () => Promise<T>
  isOver: (state: T) => boolean
  /** What a caller that asked for progress is told. */
  say: (state: T) => string
}

/** Reads a state until it is final or the time is over; the last one that was read. */
export async function waitedFor<T>(
  first: T,
  { seconds, read, isOver, say }: Waiting<T>,
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<T> {
  const began = performance.now()
  const passed = () => (performance.now() - began) / 1_000
  let state = first
  let pauseMs = FIRST_POLL_MS
  while (!isOver(state) && passed() < seconds) {
    await progress(passed(), seconds, say(state))
    await setTimeout(pauseMs, undefined, { signal })
    pauseMs = Math.min(MAX_POLL_MS, 2 * pauseMs)
    state = await read()
  }
  return state
}
