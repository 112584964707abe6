import { randomUUID } from 'node:crypto'
import {
  performServerHandshake,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { canonicalRegistry } from '#server/images/reference.ts'
import type { Connection } from './connection.ts'
import type { RegistryAuth } from './credentials.ts'
import { DIFF_COPY, syncFiles, type SeparateFiles } from './file-sync.ts'
import { bytesField, numberField, readFields } from './protobuf.ts'

/** What a build may request from its client. */
export interface SessionOffer {
  secrets: Record<string, string | Buffer>
  registryAuth: RegistryAuth
  /** The files of the build, unless they are sent with its request. */
  files?: SeparateFiles | undefined
}

export interface BuildSession {
  id: string
  close(): void
}

type Answer = { status: number; body?: Buffer }
type Method = (request: Buffer, offer: SessionOffer) => Promise<Answer> | Answer

// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
const OK = 0
const NOT_FOUND = 5
const UNIMPLEMENTED = 12
const INTERNAL = 13
/** A gRPC frame starts with a flag and four bytes of length. */
const FRAME_HEADER_BYTES = 5
/** Requests name a secret or a registry. */
const MAX_REQUEST_BYTES = 64 * 1024

/** The methods of BuildKit's session, as in the `.proto` files of moby/buildkit. */
const METHODS: Record<string, Method> = {
  '/grpc.health.v1.Health/Check': () => ({ status: OK, body: numberField(1, 1) }),
  '/moby.buildkit.secrets.v1.Secrets/GetSecret': (request, { secrets }) => {
    const id = textField(request, 1)
    const value = Object.hasOwn(secrets, id) ? secrets[id] : undefined
    return value === undefined ? { status: NOT_FOUND } : { status: OK, body: bytesField(1, value) }
  },
  '/moby.filesync.v1.Auth/Credentials': async (request, { registryAuth }) => {
    const found = await registryAuth(canonicalRegistry(textField(request, 1)))
    if (!found) return { status: OK, body: Buffer.alloc(0) }
    const secret = bytesField(2, found.identityToken ?? found.password)
    return { status: OK, body: Buffer.concat([bytesField(1, found.username), secret]) }
  },
}

/**
 * Opens a session in which the engine's BuildKit requests secrets, registry credentials and files: after the upgrade the engine is
 * the HTTP/2 client and this side the server. Null when the engine has no BuildKit.
 */
export async function openBuildSession(
  connection: Connection,
  offer: SessionOffer,
  signal?: AbortSignal,
): Promise<BuildSession | null> {
  const id = randomUUID()
  const socket = await connection.upgrade('opening a build session', {
    method: 'POST',
    path: '/session',
    headers: {
      Upgrade: 'h2c',
      'X-Docker-Expose-Session-Uuid': id,
      'X-Docker-Expose-Session-Name': 'deployer',
      // The engine compares with what a session of the same key sent, and requests only what differs.
      'X-Docker-Expose-Session-Sharedkey': id,
      // Node sends each item of a list as a header line of its own, which BuildKit expects.
      'X-Docker-Expose-Session-Grpc-Method': [...Object.keys(METHODS), DIFF_COPY] as unknown as string,
    },
    signal,
  })
  if (!socket) return null
  const session = performServerHandshake(socket)
  // If the session breaks, the build fails and says why; after the build it does not matter.
  session.on('error', () => {})
  session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
    headers[':path'] === DIFF_COPY
      ? syncFiles(stream, headers, offer.files ?? null)
      : serve(stream, headers, offer),
  )
  // Bytes that came with the upgrade reach the session at the end of this turn; a closed one would then end the server.
  return { id, close: () => void setImmediate(close, session, socket) }
}

function close(session: Http2Session, socket: Duplex): void {
  session.destroy()
  socket.destroy()
}

function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, offer: SessionOffer): void {
  const method = METHODS[String(headers[':path'])]
  const chunks: Buffer[] = []
  let length = 0
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= MAX_REQUEST_BYTES) chunks.push(chunk)
    else stream.destroy()
  })
  stream.on('end', () => {
    const request = Buffer.concat(chunks).subarray(FRAME_HEADER_BYTES)
    answer(method, request, offer).then(
      (result) => respond(stream, result),
      () => respond(stream, { status: INTERNAL }),
    )
  })
}

async function answer(method: Method | undefined, request: Buffer, offer: SessionOffer): Promise<Answer> {
  return method ? method(request, offer) : { status: UNIMPLEMENTED }
}

function respond(stream: ServerHttp2Stream, { status, body }: Answer): void {
  if (stream.destroyed) return
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }))
  if (!body) {
    stream.end()
    return
  }
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  header.writeUInt32BE(body.length, 1)
  stream.end(Buffer.concat([header, body]))
}

function textField(message: Buffer, wanted: number): string {
  for (const { number, value } of readFields(message)) {
    if (number === wanted && typeof value !== 'number') return value.toString('utf8')
  }
  return ''
}
