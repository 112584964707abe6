import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { HTTP_PROTOCOL, type Identity } from '#agent/protocol.ts'
import { ID_PATTERN } from '#server/ids.ts'
import { logger } from '#server/log.ts'
import { messageOf } from '#server/errors.ts'

const log = logger('nodes')

const MAX_CONNECTIONS = 256
const HANDSHAKE_MS = 5_000
/** A repository has the id of a service; a reference is a tag or a digest (OCI distribution specification). */
const IMAGE_PATH = /^\/v2\/([a-z]{3}-[0-9a-f]{20})\/(manifests|blobs)\/([\w.:-]{1,128})$/
const JOIN_PATH = /^\/join\/([\w-]{1,128})$/

/** What the listener asks of the rest. */
export interface ListenerParts {
  /** The digest of the token that is valid now; null for none. */
  tokenDigest: () => Buffer | null
  /** The agent's image, as `docker load` takes it. */
  agentImage: (signal: AbortSignal) => Promise<Readable>
  /** Whether there is such a node, and it may pull from a repository now. */
  mayPull: (nodeId: string, repository: string) => boolean
  /** Whether there is such a node. */
  isNode: (nodeId: string) => boolean
  /** Answers a request for the registry. */
  passToRegistry: (request: IncomingMessage, response: ServerResponse) => void
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Listens for machines that join and for the engines of nodes. Throws when the port is taken. */
export async function openListener(
  { host, port }: { host: string; port: number },
  identity: Identity,
  parts: ListenerParts,
): Promise<Server> {
  const server = createServer(
    {
      cert: identity.certificate,
      key: identity.key,
      ca: identity.authority,
      requestCert: true,
      // A machine that joins has none yet.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.3',
      ALPNProtocols: [HTTP_PROTOCOL],
      handshakeTimeout: HANDSHAKE_MS,
      requestTimeout: HANDSHAKE_MS,
    },
    (request, response) => {
      answer(request, response, parts).catch((error: unknown) => {
        log.warn('a node could not be answered', { error: messageOf(error) })
        response.destroy()
      })
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  server.on('error', (error) => log.error('the listener for nodes failed', { error: error.message }))
  return server
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  parts: ListenerParts,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0]!
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405)
  const [, token] = JOIN_PATH.exec(path) ?? []
  if (token !== undefined)
    return request.method === 'GET' ? sendAgent(token, response, parts) : refuse(response, 405)
  const nodeId = nodeOf(request.socket as TLSSocket)
  if (nodeId === null || !parts.isNode(nodeId)) return refuse(response, 401)
  if (path === '/v2/') return refuse(response, 200)
  const [, repository] = IMAGE_PATH.exec(path) ?? []
  if (repository === undefined || !parts.mayPull(nodeId, repository)) return refuse(response, 404)
  parts.passToRegistry(request, response)
}

/** The node that a certificate of the server's own authority names; null for a stranger. */
function nodeOf(socket: TLSSocket): string | null {
  if (!socket.authorized) return null
  const name = socket.getPeerX509Certificate()?.subject.replace(/^CN=/, '') ?? ''
  return ID_PATTERN.test(name) ? name : null
}

async function sendAgent(token: string, response: ServerResponse, parts: ListenerParts): Promise<void> {
  // Digests are compared, so that the time tells nothing about the token.
  const valid = parts.tokenDigest()
  if (valid === null || !timingSafeEqual(valid, digestOf(token))) return refuse(response, 404)
  const leaving = new AbortController()
  response.on('close', () => leaving.abort())
  const image = await parts.agentImage(leaving.signal)
  response.writeHead(200, { 'content-type': 'application/x-tar' })
  await pipeline(image, response).catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error
  })
}

/** An answer without content, which an engine and curl understand. */
function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': 2 }).end('{}')
}
