import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import { pipeline } from 'node:stream'
import { HTTP_PROTOCOL, SERVER_NAME, type Identity } from './protocol.ts'

/** An engine pulls a few layers at once. */
const MAX_CONNECTIONS = 32
/** The server reads its registry's disk within this time. */
const ANSWER_MS = 60_000
/** What a registry's answer consists of. */
const PASSED_ON = [
  'content-type',
  'content-length',
  'content-range',
  'docker-content-digest',
  'docker-distribution-api-version',
  'etag',
]

interface Source {
  identity: Identity
  /** Where the server listens for its nodes. */
  server: { host: string; port: number }
}

/** Passes the engine's requests for images to the server, for this host's loopback. The server judges them. */
export function createImageDoor({ identity, server }: Source): Server {
  const agent = new Agent({
    cert: identity.certificate,
    key: identity.key,
    ca: identity.authority,
    servername: SERVER_NAME,
    minVersion: 'TLSv1.3',
    ALPNProtocols: [HTTP_PROTOCOL],
    keepAlive: true,
    maxSockets: MAX_CONNECTIONS,
  })
  const door = createServer((asked, response) => {
    if (asked.method !== 'GET' && asked.method !== 'HEAD') response.writeHead(405).end()
    else pass(asked, response, { agent, ...server })
  })
  door.maxConnections = MAX_CONNECTIONS
  return door
}

function pass(
  { method, url, headers }: IncomingMessage,
  response: ServerResponse,
  to: { agent: Agent; host: string; port: number },
): void {
  const { accept, range } = headers
  const wanted = { ...(accept && { accept }), ...(range && { range }) }
  const passed = request({ ...to, method, path: url, headers: wanted, timeout: ANSWER_MS }, (answer) => {
    const kept = PASSED_ON.flatMap((name) => {
      const value = answer.headers[name]
      return value === undefined ? [] : [[name, value] as const]
    })
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept))
    pipeline(answer, response, () => {})
  })
  passed.on('timeout', () => passed.destroy())
  passed.on('error', () => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  })
  response.on('close', () => passed.destroy())
  passed.end()
}
