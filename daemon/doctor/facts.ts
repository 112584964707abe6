import type { Hello } from '#proxy/protocol.ts'
import type { Options } from '#server/options/index.ts'
import type { Engine, EngineInfo } from '../engine/index.ts'
import { greet } from '../proxy/greeting.ts'
import type { World } from '../world.ts'

/** What answers takes milliseconds. It is less than a check may take, so that the checks that need an answer can say why. */
const ANSWER_MS = 2_000

/** What several checks look at; each part is asked for once. */
export interface Facts {
  options: Options
  engine: Engine
  /** What the tasks of the running server act on; null where none runs. */
  world: World | null
  /** Why there is no `world`. */
  serverFault: string
  /** Why the database and the key of the server cannot be used; null when they can. */
  recordsFault: string | null
  /** What the engine says about itself. Throws `runtime_error`, or an Error when it takes too long. */
  engineInfo(): Promise<EngineInfo>
  /** The same; null when it does not answer. */
  engineInfoIfAny(): Promise<EngineInfo | null>
  /** The greeting of the data plane; null when none runs. Throws an Error when it hangs. */
  dataPlane(): Promise<Hello | null>
}

/** Facts about a host, of which nothing has been asked yet. */
export function gatherFacts(
  given: Pick<Facts, 'options' | 'engine' | 'world' | 'serverFault' | 'recordsFault'>,
): Facts {
  let info: Promise<EngineInfo> | undefined
  let hello: Promise<Hello | null> | undefined
  const engineInfo = () => (info ??= within('the engine', given.engine.info()))
  return {
    ...given,
    engineInfo,
    engineInfoIfAny: () => engineInfo().catch(() => null),
    dataPlane: () => (hello ??= within('the data plane', greeting(given.options.dataDirectory))),
  }
}

async function greeting(dataDirectory: string): Promise<Hello | null> {
  const greeted = await greet(dataDirectory, 0)
  greeted?.channel.close()
  return greeted?.hello ?? null
}

/** Throws an Error when an answer takes too long. */
async function within<T>(whose: string, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`${whose} does not answer within ${ANSWER_MS / 1_000} s`)
    timer = setTimeout(() => reject(error), ANSWER_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
