import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { readHost } from './host.ts'
import { join } from './join.ts'
import { probe } from './probe.ts'
import {
  ENGINE_PROTOCOL,
  HTTP_PROTOCOL,
  MAX_MESSAGE_BYTES,
  MAX_PROBES,
  SERVER_NAME,
  type Identity,
  type Probes,
} from './protocol.ts'
import type { StandIn } from './stand-in.ts'

const MAX_CONNECTIONS = 512
/** A stranger may hold a connection for so long. */
const HANDSHAKE_MS = 5_000
/** A line that was cut tells nobody: the kernel asks. */
const KEEP_ALIVE_MS = 15_000

interface Gate {
  identity: Identity
  /** The socket of this host's engine. */
  enginePath: string
  /** Who acts while the server is away: the server is let in once that has ended. */
  standIn: Pick<StandIn, 'heard' | 'onAway'>
}

/** Lets the server in, and nobody else: to the engine, or to the agent itself. */
export function createGate({ identity, enginePath, standIn }: Gate): Server {
  const http = createHttpServer({ requestTimeout: HANDSHAKE_MS }, (request, response) => {
    standIn
      .heard()
      .then(() => answer(request, response))
      .catch(() => response.destroy())
  })
  const lines = new Set<TLSSocket>()
  standIn.onAway = () => lines.forEach((line) => line.destroy())
  const gate = createServer(
    {
      cert: identity.certificate,
      key: identity.key,
      ca: identity.authority,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
      ALPNProtocols: [ENGINE_PROTOCOL, HTTP_PROTOCOL],
      allowHalfOpen: true,
      handshakeTimeout: HANDSHAKE_MS,
    },
    (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      socket.setNoDelay(true)
      if (!isServer(socket)) socket.destroy()
      else if (socket.alpnProtocol === ENGINE_PROTOCOL) {
        lines.add(socket.once('close', () => lines.delete(socket)))
        void lead(socket)
      } else if (socket.alpnProtocol === HTTP_PROTOCOL) http.emit('connection', socket)
      else socket.destroy()
    },
  )
  gate.maxConnections = MAX_CONNECTIONS
  return gate

  async function lead(line: TLSSocket): Promise<void> {
    line.on('error', () => {})
    await standIn.heard()
    if (line.destroyed) return
    join(line, connect({ path: enginePath, allowHalfOpen: true }))
    line.on('data', () => void standIn.heard())
  }
}

/** Whether the other end is the server: nodes have certificates of the same authority. */
function isServer(socket: TLSSocket): boolean {
  return socket.getPeerX509Certificate()?.checkHost(SERVER_NAME) === SERVER_NAME
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  switch (`${request.method} ${request.url}`) {
    case 'GET /host':
      return send(response, 200, await readHost())
    case 'POST /check': {
      const probes = JSON.parse(await bodyOf(request)) as Probes
      return send(response, 200, await probe({ targets: probes.targets.slice(0, MAX_PROBES) }))
    }
    default:
      return send(response, 404, {})
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_MESSAGE_BYTES) throw new Error('the request is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
