import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '#proxy/control/ask.ts'
import type { Channel } from '#proxy/control/channel.ts'
import { HELLO_MS, endOlder, greet } from './greeting.ts'
import { livingWorkers } from './launch.ts'

const STOP_MS = 15_000

/** A data plane found in a data directory. */
export interface FoundProxy {
  /** Stops the whole data plane. */
  stop(): Promise<void>
  /** Closes only the connection. */
  close(): void
}

/** Finds the data plane that runs in a data directory, without starting one; null if there is none. */
export async function findProxy(dataDirectory: string): Promise<FoundProxy | null> {
  const found = await greet(dataDirectory, 0)
  if (found) {
    const { channel, hello } = found
    return {
      async stop() {
        await endOlder(dataDirectory, found)
        await ask(channel, 'attach', { server_id: hello.server_id, workers: 0 }, HELLO_MS)
        await stopProxy(channel)
      },
      close: () => channel.close(),
    }
  }
  const workers = await livingWorkers(dataDirectory)
  if (workers.length === 0) return null
  return {
    async stop() {
      const ended = workers.map((worker) => new Promise<void>((resolve) => (worker.onClose = resolve)))
      const terms = { limit_ms: STOP_MS / 3, close_idle: true }
      for (const worker of workers) worker.request('retire', terms, HELLO_MS).catch(() => worker.destroy())
      await Promise.race([Promise.all(ended), sleep(STOP_MS, undefined, { ref: false })])
    },
    close() {
      for (const worker of workers) worker.close()
    },
  }
}

/** Stops the whole data plane, over an attached connection. */
export async function stopProxy(channel: Channel): Promise<void> {
  await ask(channel, 'stop', {}, STOP_MS)
  channel.close()
}
