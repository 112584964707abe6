import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { writePart } from '../backups/part-file.ts'
import { messageOf } from '../errors.ts'
import { lowerThreadPriority } from '../work/priority.ts'
import type { ThreadFault } from '../work/worker-thread.ts'
import { givingBack, packSealed } from './pack.ts'
import type { Packing, PackingProgress } from './packing-thread.ts'

/** Between two answers. */
const ANSWER_EVERY_MS = 500
/** It works so long at a time, and then rests as long. */
const SLICE_MS = 4
const LONGEST_REST_MS = 20

/** The program of the thread that packs a backup into a file. It answers each message after some progress, or at the end. */
lowerThreadPriority()
const { source, passphrase, path } = workerData as Packing
let doneBytes = 0
let progressed = Promise.withResolvers<null>()
let answeredAt = performance.now()
const pieces = packSealed(source, passphrase, (bytes) => {
  doneBytes = bytes
  if (performance.now() - answeredAt > ANSWER_EVERY_MS) progressed.resolve(null)
})
const writing = writePart(path, paced(givingBack(pieces)))

// Whoever asks next is told.
writing.catch(() => {})

/** Leaves the disk and a core alone half of the time. The server also grows by a fifth less than without the rests. */
async function* paced(from: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let began = performance.now()
  for await (const piece of from) {
    yield piece
    const workedMs = performance.now() - began
    if (workedMs < SLICE_MS) continue
    await delay(Math.min(workedMs, LONGEST_REST_MS))
    began = performance.now()
  }
}

async function next(): Promise<PackingProgress | ThreadFault> {
  try {
    const written = await Promise.race([writing, progressed.promise])
    progressed = Promise.withResolvers()
    answeredAt = performance.now()
    return { doneBytes, written }
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

parentPort!.on('message', () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void next().then((answer) => parentPort!.postMessage(answer))
})
