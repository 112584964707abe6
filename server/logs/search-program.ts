import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../errors.ts'
import type { ThreadFault } from '../work/worker-thread.ts'
import { lineMatcher, type LineFilter } from './filter.ts'
import { countLines } from './histogram.ts'
import { readNewest } from './newest.ts'
import type { SearchAnswer, SearchRequest } from './search-thread.ts'
import { Allowance, readTail } from './tail.ts'

const filter = workerData as LineFilter
const matcher = lineMatcher(filter)

async function answer(request: SearchRequest): Promise<SearchAnswer> {
  switch (request.kind) {
    case 'match': {
      const lines = matcher(Buffer.from(request.block).toString('utf8'))
      return { text: Buffer.from(lines.map((line) => `${line}\n`).join('')) }
    }
    case 'tail': {
      const { slices, tail, room } = request
      return { found: await readTail(slices, matcher, tail, new Allowance(room)) }
    }
    case 'newest': {
      const { logs, tail, room, limitMs } = request
      return { newest: await readNewest(logs, filter, tail, room, limitMs) }
    }
    case 'count': {
      const { logs, bars, limitMs } = request
      return { counted: await countLines(logs, filter, bars, limitMs) }
    }
  }
}

parentPort!.on('message', (request: SearchRequest) => {
  void answer(request)
    .catch((error: unknown): ThreadFault => ({ fault: messageOf(error) }))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    .then((reply) => parentPort!.postMessage(reply))
})
