import { parentPort } from 'node:worker_threads'
import { AppError, messageOf } from '../errors.ts'
import type { ThreadFault } from '../work/worker-thread.ts'
import { convertCompose } from './compose/convert.ts'
import { readBlueprint } from './read.ts'
import type { ReadingAnswer, ReadingRequest } from './reading-thread.ts'

/** The program of the thread that reads users' files. Nothing here may access the database or a secret. */
parentPort!.on('message', (request: ReadingRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(answerOf(request))
})

function answerOf(request: ReadingRequest): ReadingAnswer | ThreadFault {
  try {
    const { text } = request
    return {
      read:
        request.kind === 'compose'
          ? convertCompose(text, request.origin)
          : readBlueprint(text, request.context),
    }
  } catch (error) {
    if (!(error instanceof AppError)) return { fault: messageOf(error) }
    const { code, message, details } = error
    return { refused: { code, message, details } }
  }
}
