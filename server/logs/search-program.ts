import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../errors.ts'
import type { ThreadFault } from '../work/worker-thread.ts'
import { lineMatcher, type LineFilter } from './filter.ts'
import type { SearchAnswer, SearchRequest } from './search-thread.ts'
import { Allowance, readTail } from './tail.ts'

const matcher = lineMatcher(workerData as LineFilter)

async function answer(request: SearchRequest): Promise<SearchAnswer> {
  if (request.kind === 'match') {
    const lines = matcher(Buffer.from(request.block).toString('utf8'))
    return { text: Buffer.from(lines.map((line) => `${line}\n`).join('')) }
  }
  const { slices, tail, room } = request
  return { found: await readTail(slices, matcher, tail, new Allowance(room)) }
}

parentPort!.on('message', (request: SearchRequest) => {
  void answer(request)
    .catch((error: unknown): ThreadFault => ({ fault: messageOf(error) }))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    .then((reply) => parentPort!.postMessage(reply))
})
