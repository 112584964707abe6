import { setTimeout as delay } from 'node:timers/promises'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2_000
const GROWTH = 1.5

/** Reads something again and again until it is settled. */
export async function settled<T>(read: () => Promise<T>, isSettled: (value: T) => boolean): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * GROWTH)) {
    const value = await read()
    if (isSettled(value)) return value
    await delay(pauseMs)
  }
}
