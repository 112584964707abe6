// Many clients of the change feed, in a thread of their own, so that reading does not disturb the measurement.
import { request } from 'node:http'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

/** Many clients of the change feed. */
export interface ChangeFollowers {
  /** Resolves with the time (process.hrtime) at which the last client received a change of the resource. */
  seenByAll(id: string): Promise<bigint>
  close(): Promise<number>
}

/** Opens `count` clients; resolves when each has received `ready`. */
export async function followChanges(url: string, count: number): Promise<ChangeFollowers> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url, count } })
  const { promise: joined, resolve: begin, reject } = Promise.withResolvers<void>()
  const seen = new Map<string, bigint>()
  const waiting = new Map<string, (at: bigint) => void>()
  worker.on('error', reject)
  worker.on('message', (message: 'joined' | { id: string; at: bigint }) => {
    if (message === 'joined') return begin()
    seen.set(message.id, message.at)
    waiting.get(message.id)?.(message.at)
  })
  await joined
  return {
    seenByAll: (id) =>
      new Promise((resolve) => {
        const at = seen.get(id)
        if (at === undefined) waiting.set(id, resolve)
        else resolve(at)
      }),
    close: () => worker.terminate(),
  }
}

if (parentPort) {
  const port = parentPort
  const { url, count } = workerData as { url: string; count: number }
  const notified = new Map<string, number>()
  const follow = () =>
    new Promise<void>((ready, reject) => {
      request(url, (response) => {
        let rest = ''
        response.setEncoding('latin1').on('data', (chunk: string) => {
          const blocks = (rest + chunk).split('\n\n')
          rest = blocks.pop()!
          for (const block of blocks) {
            if (block.startsWith('event: ready')) ready()
            const id = /"id":"([^"]+)".*"action":"created"/.exec(block)?.[1]
            if (id === undefined) continue
            const seen = (notified.get(id) ?? 0) + 1
            notified.set(id, seen)
            if (seen === count) port.postMessage({ id, at: process.hrtime.bigint() })
          }
        })
      })
        .on('error', reject)
        .end()
    })
  // A few at a time: opening them is not what is measured.
  for (let opened = 0; opened < count; opened += 100)
    await Promise.all(Array.from({ length: Math.min(100, count - opened) }, follow))
  port.postMessage('joined')
}
