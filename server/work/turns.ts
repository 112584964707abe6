/**
 * How many callers continue in each turn. Each writes a block of 64 KiB, which takes about 0.1 ms, so other requests wait a
 * few milliseconds.
 */
const AT_ONCE = 25

let waiting: (() => void)[] = []

/**
 * Waits for a place in one of the next turns of the event loop. Code that thousands of clients may run at once calls it
 * before each step, so that other requests are answered in between.
 */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(admit)
    waiting.push(resolve)
  })
}

function admit(): void {
  const admitted = waiting.slice(0, AT_ONCE)
  waiting = waiting.slice(AT_ONCE)
  if (waiting.length > 0) setImmediate(admit)
  for (const go of admitted) go()
}
