import { readFileSync } from 'node:fs'
import type { Agent, IncomingMessage, request as RequestFunction } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { VERSION } from '#server/version.ts'
import { EXIT, Fault, wrong } from '../fault.ts'
import { isLoopback, type Server } from './server.ts'

// An import of node:http reads all that it exports, and so loads node's whole fetch with it: 14 MiB and 40 ms.
const http = () => process.getBuiltinModule('node:http')
const https = () => process.getBuiltinModule('node:https')
const tls = () => process.getBuiltinModule('node:tls')

export interface Question {
  method: string
  /** From the root, with its query. */
  path: string
  headers: Record<string, string>
  body?: string | Readable
  /** How long nothing may come or go. */
  silenceMs: number
  signal?: AbortSignal
}

/** Sends requests to one server, and to no other: redirects are not followed. */
export interface Transport {
  /** What requests go to, for messages and addresses that people open. */
  url: string
  /** How a connection is made that does not end with an answer. */
  way: Way
  ask(question: Question): Promise<IncomingMessage>
  close(): void
}

/** An address, and what leads there: a socket, or the network with the certificates to trust. */
export interface Way {
  url: string
  caFile: string | null
  socketPath: string | undefined
}

/** The way to a server over HTTP or HTTPS, through the proxies that the environment names. */
export function httpTransport(
  { url, caFile }: Pick<Server, 'url' | 'caFile'>,
  socketPath?: string,
): Transport {
  const way: Way = { url, caFile, socketPath }
  const agent = agentFor(way, { keepAlive: true })
  const { request } = url.startsWith('https:') ? https() : http()
  return {
    url,
    way,
    ask: (question) => ask(request, url, agent, question, socketPath),
    close: () => agent.destroy(),
  }
}

/** Makes the connections of a way. */
export function agentFor({ url, caFile, socketPath }: Way, { keepAlive }: { keepAlive: boolean }): Agent {
  // A proxy for the internet is not asked for this machine: it would get the token, and reach another machine's port.
  const isNear = socketPath !== undefined || isLoopback(new URL(url).hostname)
  const proxyEnv = isNear ? undefined : process.env
  return url.startsWith('https:')
    ? new (https().Agent)({ keepAlive, proxyEnv, ...authorities(caFile) })
    : new (http().Agent)({ keepAlive, proxyEnv })
}

/** The certificates to trust: what node trusts, `NODE_EXTRA_CA_CERTS` included, and those of the file. */
export function authorities(caFile: string | null): { ca?: string[] } {
  if (caFile === null) return {}
  let pem: string
  try {
    pem = readFileSync(caFile, 'utf8')
  } catch (cause) {
    throw wrong(`--ca ${caFile} cannot be read: ${(cause as Error).message}`, { cause })
  }
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw wrong(`--ca ${caFile} has no certificate in PEM`)
  return { ca: [...tls().getCACertificates('default'), pem] }
}

function ask(
  request: typeof RequestFunction,
  url: string,
  agent: Agent,
  { method, path, headers, body, silenceMs, signal }: Question,
  socketPath: string | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, url), {
      method,
      agent,
      ...(socketPath === undefined ? {} : { socketPath }),
      headers: { 'user-agent': `deployer-cli/${VERSION}`, ...headers },
      timeout: silenceMs,
      ...(signal === undefined ? {} : { signal }),
    })
    let isAnswered = false
    outgoing.once('response', (answer) => {
      isAnswered = true
      resolve(answer)
    })
    outgoing.once('error', (error) => reject(signal?.aborted ? error : lostConnection(url, error)))
    // Node reports neither an answer nor an error for one that switches to another protocol, which is never asked for.
    outgoing.once('close', () => reject(lostConnection(url, new Error('it answers in another protocol'))))
    outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer within ${silenceMs / 1_000} s`)))
    if (body === undefined || typeof body === 'string') outgoing.end(body)
    else {
      // A fault of what is sent, such as a file that changed, says more than the connection that it ends.
      body.once('error', (error) => error instanceof Fault && reject(error))
      pipeline(body, outgoing).catch((error: Error) => {
        // The server may refuse a body that is still on its way; then its answer counts, not the closed connection.
        if (!isAnswered) outgoing.destroy(error)
      })
    }
  })
}

/** A connection that failed; a request that only reads may be sent again. */
export class LostConnection extends Fault {}

/** The fault that a failed connection is. */
export function lostConnection(url: string, error: Error): Fault {
  const { host } = new URL(url)
  const { code = '', message } = innermost(error)
  if (isDistrust(code))
    return new Fault(
      EXIT.noConnection,
      `the certificate of ${host} is not trusted (${message}); name its authority with --ca <file>`,
      { cause: error },
    )
  return new LostConnection(EXIT.noConnection, `no connection to ${url}: ${message}`, { cause: error })
}

/** Node's error for a name with several addresses says nothing itself. */
function innermost(error: Error): NodeJS.ErrnoException {
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
}

const DISTRUST = /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_PURPOSE)/

function isDistrust(code: string): boolean {
  return DISTRUST.test(code)
}
