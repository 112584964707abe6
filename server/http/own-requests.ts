import {
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http'
import { duplexPair, type Duplex } from 'node:stream'
import { answerOf } from '../network/answers.ts'
import type { Request } from './request.ts'

/** A request of this program to its own API. */
export interface OwnRequest {
  method: string
  /** With its query. */
  path: string
  token: string
  /** The request on whose behalf it is made: who it comes from counts for both. */
  cause: IncomingMessage
  /** Sent as JSON. */
  body?: unknown
  signal: AbortSignal
}

/** What the API answered: parsed JSON, a text, or the pieces of an event stream as they come. */
export interface OwnAnswer {
  status: number
  body: unknown
}

let own: Server | undefined

/** Names the server that answers the requests. */
export function answerOwnRequests(server: Server): void {
  own = server
}

/**
 * Sends a request to this program's own server, over a connection in memory. It passes every check that a request from
 * outside passes, with the credentials that it carries.
 */
export async function requestOwn({
  method,
  path,
  token,
  cause,
  body,
  signal,
}: OwnRequest): Promise<OwnAnswer> {
  if (!own) throw new TypeError('the server does not answer its own requests yet')
  const near = connectTo(own, cause.socket.remoteAddress)
  const sent = request({
    createConnection: () => near,
    method,
    path,
    headers: {
      host: 'localhost',
      authorization: `Bearer ${token}`,
      'x-request-id': (cause as Request).id,
      ...passedOn(cause.headers),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    signal,
  })
  const answered = answerOf(sent)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const answer = await answered
  return { status: answer.statusCode ?? 0, body: await bodyOf(answer) }
}

/** What says where a request comes from, and by which program. */
function passedOn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const { 'user-agent': userAgent, 'x-forwarded-for': forwardedFor } = headers
  return {
    ...(userAgent !== undefined && { 'user-agent': userAgent }),
    ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
  }
}

/** A connection to a server that is only in memory. Each end learns when the other is gone, as of a socket. */
function connectTo(server: Server, remoteAddress: string | undefined): Duplex {
  const [near, far] = duplexPair()
  Object.assign(far, { remoteAddress })
  near.once('close', () => far.destroy())
  far.once('close', () => {
    // What was ended in order is still being read.
    if (!far.writableFinished) near.destroy(new Error('the server cut the connection'))
  })
  server.emit('connection', far)
  return near
}

async function bodyOf(answer: IncomingMessage): Promise<unknown> {
  const type = answer.headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) return answer
  const pieces: Buffer[] = []
  for await (const piece of answer) pieces.push(piece as Buffer)
  const text = Buffer.concat(pieces).toString('utf8')
  if (!type.startsWith('application/json')) return text
  return text === '' ? null : JSON.parse(text)
}
