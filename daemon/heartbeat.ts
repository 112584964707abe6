import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { answerFault, send, shownDestination } from '#server/network/outgoing.ts'
import { schedule } from '#server/options/schedule.ts'
import type { Task } from './work/driver.ts'
import type { World } from './world.ts'

const log = logger('heartbeat')

/**
 * Requests a URL while the server, its data plane and its engine are well, so that whoever expects the requests notices when
 * one of them is not, or the host is gone. Why there is none is logged once, until there is one again.
 */
export function heartbeat(world: World, url: string): Task {
  const to = shownDestination(url)
  let isFailing = false
  return {
    name: 'heartbeat',
    everyMs: schedule.heartbeatEveryMs,
    async run(signal) {
      const fault = (await illness(world)) ?? (await beat(url, signal))
      if (signal.aborted || isFailing === (fault !== null)) return
      isFailing = fault !== null
      if (fault === null) log.info('the heartbeat is sent again', { to })
      else log.warn('there is no heartbeat; trying again', { to, error: fault })
    },
  }
}

/** What is not well; null when everything is. */
async function illness({ engine, dataPlane }: World): Promise<string | null> {
  if (!(await engine.answers())) return 'the engine does not answer'
  try {
    await dataPlane.counts()
    return null
  } catch (error) {
    return `the data plane does not answer: ${messageOf(error)}`
  }
}

/** Sends one request. Returns why it failed; null when it was accepted. */
async function beat(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    return answerFault(await send({ method: 'GET', url, signal }))
  } catch (error) {
    return messageOf(error)
  }
}
