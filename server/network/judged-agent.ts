import { Agent, buildConnector } from 'undici'
import { portOf, type Reach } from './addresses.ts'
import { ForbiddenPlace, judgedLookup } from './judged.ts'

/** Connects undici's requests to judged addresses alone; `reach` is asked at each connection. */
export function judgedAgent(reach: () => Reach, connectMs: number, options: Agent.Options = {}): Agent {
  return new Agent({
    ...options,
    connect: (target, callback) => {
      const lookup = judgedLookup(portOf(target), reach())
      buildConnector({ lookup, timeout: connectMs })(target, callback)
    },
  })
}

/** The place that may not be asked, where that is why a request failed. */
export function forbiddenIn(error: unknown): ForbiddenPlace | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof ForbiddenPlace) return at
  return null
}

/** The text of a body, of no more than so many bytes; null when it is longer. */
export async function textWithin(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<string | null> {
  const taken: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes) return null
    taken.push(piece)
  }
  return Buffer.concat(taken).toString('utf8')
}
