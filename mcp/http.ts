import { once } from 'node:events'
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type McpHttpHandler,
} from '@modelcontextprotocol/server'
import type { Call } from './call.ts'
import { createServer } from './server.ts'

/** One POST of a client, whose credentials have been checked. */
export interface Posted {
  headers: Record<string, string>
  body: string
  /** Aborts when the client has left. */
  signal: AbortSignal
  /** Calls the API with the client's own credentials. */
  call: Call
}

/** What a client may send and take: the library asks for both types, whatever it answers with. */
const ACCEPTED = 'application/json, text/event-stream'
const BASE = 'http://localhost/mcp'

const endpoints = new Map<string, McpEndpoint>()

/** The endpoint with these tools, which is the same for all requests. */
export function endpointOf(version: string, tools: 'reading' | 'writing'): McpEndpoint {
  const endpoint = endpoints.get(tools) ?? new McpEndpoint(version, tools === 'writing')
  endpoints.set(tools, endpoint)
  return endpoint
}

/**
 * The protocol over HTTP, stateless: each POST is answered by a server of its own, as JSON. Only a client that asked to be
 * told about progress, and takes a stream, gets one.
 */
class McpEndpoint {
  readonly #version: string
  readonly #writes: boolean
  readonly #calls = new WeakMap<AuthInfo, Call>()
  readonly #modern: McpHttpHandler

  constructor(version: string, writes: boolean) {
    this.#version = version
    this.#writes = writes
    this.#modern = createMcpHandler(({ authInfo }) => this.#server(this.#calls.get(authInfo!)!), {
      legacy: 'reject',
      // Nothing that is offered changes, so there is nothing to listen for.
      maxSubscriptions: 0,
    })
  }

  /** Answers one POST. */
  async answer({ headers, body, signal, call }: Posted): Promise<Response> {
    const sent = { ...headers, accept: ACCEPTED }
    const request = new Request(BASE, { method: 'POST', headers: sent, body, signal })
    if (signal.aborted) return unanswered()
    if (await isLegacyRequest(request)) {
      const left = once(signal, 'abort').then(unanswered)
      return this.#answerLegacy(request, call, left, wantsStream(headers, body))
    }
    const authInfo: AuthInfo = { token: '', clientId: '', scopes: [] }
    this.#calls.set(authInfo, call)
    return this.#modern.fetch(request, { authInfo })
  }

  /** Answers a client of the revisions up to 2025-11-25, to which the library would always send a stream. */
  async #answerLegacy(
    request: Request,
    call: Call,
    left: Promise<Response>,
    streams: boolean,
  ): Promise<Response> {
    const server = this.#server(call)
    // No session ids: nothing is kept between requests.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams })
    void left.then(() => server.close())
    await server.connect(transport)
    const answer = await Promise.race([transport.handleRequest(request), left])
    if (!streams) await server.close()
    return answer
  }

  #server(call: Call) {
    return createServer({ version: this.#version, writes: this.#writes, call })
  }
}

/** For a client that has left, or while the server stops. */
function unanswered(): Response {
  return new Response(null, { status: 503 })
}

/** Whether a client takes a stream and asked for what is only sent in one. */
function wantsStream({ accept = '' }: Record<string, string>, body: string): boolean {
  return accept.includes('text/event-stream') && body.includes('"progressToken"')
}
