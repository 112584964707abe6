import { fileURLToPath } from 'node:url'
import type { Call } from '#daemon/reader/call.ts'
import { endWithLifeline, handler, serveCalls } from '#daemon/reader/serve.ts'

/** Calls that do what a reader of sources must not be able to do to the server. */
function call(name: string, cpuSeconds: number, seconds: number | null): Call<null, string[]> {
  return { name, doing: name, limits: { cpuSeconds, seconds } }
}

export const SPIN = call('spinning', 1, null)
export const SPIN_LONG = call('spinning long', 10_000, null)
export const SLEEP = call('sleeping', 10_000, 1)
export const GORGE = call('gorging', 10_000, null)
export const HOARD = call('hoarding', 10_000, null)
export const DIE = call('dying', 10_000, null)
export const ENVIRONMENT = call('looking around', 10_000, null)
export const CHECK = call('checking', 10_000, null)

const spin = (): never => {
  for (;;);
}

async function gorge(): Promise<never> {
  const taken: Buffer[] = []
  for (;;) {
    taken.push(Buffer.alloc(16 * 1024 * 1024, taken.length))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function hoard(): never {
  const taken: string[][] = []
  for (;;) taken.push(Array.from({ length: 100_000 }, (_, index) => `${taken.length} ${index}`))
}

// Imported by the tests for its calls, run by the reader as its program.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  serveCalls([
    handler(SPIN, async () => spin()),
    handler(SPIN_LONG, async () => spin()),
    handler(SLEEP, () => new Promise(() => {})),
    handler(GORGE, gorge),
    handler(HOARD, async () => hoard()),
    handler(DIE, async () => process.exit(7)),
    handler(ENVIRONMENT, async () => Object.keys(process.env)),
    handler(CHECK, async () => ['well']),
  ])
  endWithLifeline(fileURLToPath(import.meta.resolve('#daemon/reader/lifeline.ts')))
}
