import { request as requestByHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { VERSION } from '../version.ts'
import type { Agents } from './agents.ts'
import { answerOf } from './answers.ts'

/** A body that is read while it is sent. */
export interface StreamedBody {
  size: number
  /** A piece is valid until the next one is requested: its memory is reused. */
  pieces: () => AsyncIterable<Buffer>
}

/** A request to another server. */
export interface Question {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: URL
  headers?: Record<string, string>
  body?: string | Buffer | StreamedBody | undefined
  /** Decide where it may lead. */
  agents: Agents
  /** Ends the request and the reading of its answer. */
  signal: AbortSignal
  /** How long the server may neither send nor accept anything, when what is sent may take any time. */
  silenceMs?: number
}

/**
 * Sends what is not a request for JSON (`json.ts`) to another server: streamed bodies, whose memory is reused as soon as the
 * system has taken it, and messages to any address, of whose answers only the beginning is read. Resolves with the head of the
 * answer, whatever its status; whoever reads the rest says how much of it. Redirects are not followed. Throws ForbiddenPlace
 * for an address that `agents` do not permit.
 */
export async function request(question: Question): Promise<IncomingMessage> {
  const { method = 'GET', url, headers, body, agents, signal, silenceMs } = question
  const isSecure = url.protocol === 'https:'
  const outgoing = (isSecure ? requestByHttps : requestByHttp)(url, {
    method,
    agent: isSecure ? agents.https : agents.http,
    headers: { 'user-agent': `deployer/${VERSION}`, ...lengthOf(body), ...headers },
    signal,
    ...(silenceMs === undefined ? {} : { timeout: silenceMs }),
  })
  const answered = answerOf(outgoing)
  if (typeof body !== 'object' || Buffer.isBuffer(body)) outgoing.end(body)
  else sendPieces(outgoing, body).catch((error: Error) => outgoing.destroy(error))
  if (silenceMs !== undefined) endAtSilence(outgoing, answered, silenceMs)
  return await answered
}

function endAtSilence(outgoing: ClientRequest, answered: Promise<IncomingMessage>, silenceMs: number): void {
  let answer: IncomingMessage | undefined
  answered.then(
    (given) => (answer = given),
    () => {},
  )
  outgoing.on('timeout', () => {
    // Whoever reads the answer is slow, not the server.
    if (answer && answer.readableLength >= answer.readableHighWaterMark) answer.socket.setTimeout(silenceMs)
    else (answer ?? outgoing).destroy(new Error(`no response for ${silenceMs / 1_000} s`))
  })
}

function lengthOf(body: Question['body']): Record<string, string> {
  if (body === undefined) return {}
  const size = typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.byteLength(body) : body.size
  return { 'content-length': String(size) }
}

async function sendPieces(outgoing: ClientRequest, { pieces }: StreamedBody): Promise<void> {
  for await (const piece of pieces()) {
    await written(outgoing, piece)
    if (outgoing.destroyed) return
  }
  outgoing.end()
}

/** Waits until the system has taken a piece, or the request is closed; the request's own error says why. */
function written(outgoing: ClientRequest, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once('close', resolve)
    outgoing.write(piece, () => {
      outgoing.off('close', resolve)
      resolve()
    })
  })
}
