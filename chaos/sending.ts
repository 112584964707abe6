import type { ApiAnswer } from '../test/support/server.ts'
import type { Answer, NamedCall } from './calls/index.ts'
import { Finding } from './finding.ts'
import type { Rig } from './rig.ts'

/** A client that waits longer leaves; what came of its call is unknown then. */
const CALL_LIMIT_MS = 8_000

/** What came of a call; `unknown` if its answer was lost, or was an error after which it may have been done or not. */
export type Outcome = { call: NamedCall } & (
  { is: 'acknowledged'; answer: Answer } | { is: 'refused' } | { is: 'unknown' }
)

type Body = (Answer & { error?: { code: string; message: string } }) | null

/** Sends a call. Throws a Finding for an answer that no valid call may get. */
export async function send(rig: Rig, call: NamedCall, isDiskFull: () => boolean): Promise<Outcome> {
  const began = performance.now()
  const { method, path, body } = call
  const init = { signal: AbortSignal.timeout(CALL_LIMIT_MS) }
  const sent = call.needsSession
    ? rig.server.request(method, `/api/v1${path}`, body, { ...init, headers: rig.session })
    : rig.server.api(method, path, body, init)
  const answer = await sent.catch((error: Error) => error)
  const took = `in ${Math.round(performance.now() - began)} ms`
  const told = `${call.name}: ${method} ${path}${shownBody(body)} -> ${shownAnswer(answer)}`
  rig.note(`  ${told} ${took}`)
  if (answer instanceof Error) return { call, is: 'unknown' }
  return judge(call, told, answer, isDiskFull)
}

function judge(call: NamedCall, told: string, answer: ApiAnswer, isDiskFull: () => boolean): Outcome {
  const { status } = answer
  const body = answer.body as Body
  if (status < 300) return { call, is: 'acknowledged', answer: body ?? {} }
  if (call.refusals?.includes(status)) return { call, is: 'refused' }
  if (status < 500) throw new Finding(`a valid call was refused: ${told}`)
  if (status === 500 && !isDiskFull()) throw new Finding(`the disk has room: ${told}`)
  // It takes effect when the engine is back.
  if (body?.error?.message.startsWith('saved;')) return { call, is: 'acknowledged', answer: {} }
  return { call, is: 'unknown' }
}

function shownBody(body: NamedCall['body']): string {
  return body === undefined || body instanceof Uint8Array ? '' : ` ${JSON.stringify(body)}`
}

function shownAnswer(answer: ApiAnswer | Error): string {
  if (answer instanceof Error) return `no answer (${answer.message})`
  const body = answer.body as Body
  if (answer.status >= 300) return `${answer.status} ${JSON.stringify(body)}`
  const ids = [body?.id, body?.latest_deploy?.id, body?.api_token?.id].filter((id) => id !== undefined)
  return [answer.status, ...ids].join(' ')
}
