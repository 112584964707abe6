import type { Answer, Call as McpCall } from '#mcp/call.ts'
import { VERSION } from '#server/version.ts'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import { textOf } from '../answer.ts'
import { connect, type Api } from '../api.ts'

/** What fetches a source or builds up a plan takes longer than other requests. */
const LONG_LIMIT_MS = 300_000
const LONG_PATHS = ['/detect', '/blueprints/apply']

/** Serves the tools over standard input and output, or prints how a host starts that. */
export async function mcp(call: Call): Promise<void> {
  if (call.has('print-config')) return call.out.json(configOf(call))
  const { faultOfChoice } = await import('#mcp/server.ts')
  const writes = call.has('write')
  const only = call.text('tools')?.split(',').filter(Boolean)
  const fault = faultOfChoice(only ?? [], writes)
  if (fault !== null) throw wrong(`--tools: ${fault}`)
  const { serveOverStdio } = await import('#mcp/stdio.ts')
  const api = new LateApi(call)
  const { uploadFor } = await import('./mcp-folders.ts')
  await serveOverStdio({
    version: VERSION,
    writes,
    only,
    call: (...given) => api.answer(...given),
    folders: { root: process.cwd(), upload: uploadFor(call, () => api.connected()) },
  })
  await api.close()
}

/** What a host of the protocol is told, in the form that most of them read. It has no token: the command finds it. */
function configOf(call: Call): object {
  const flags = ['host', 'tools', 'ca'].flatMap((name) => {
    const value = call.text(name)
    return value === null ? [] : [`--${name}`, value]
  })
  const args = ['mcp', ...(call.has('write') ? ['--write'] : []), ...flags]
  return { mcpServers: { deployer: { command: 'deployer', args } } }
}

/**
 * The API of the command's server, to which it connects with the first request: a host starts the command whether or not
 * somebody is signed in, and a sign-in while it runs is found by the next request.
 */
class LateApi {
  readonly #call: Call
  #api: Promise<Api> | undefined

  constructor(call: Call) {
    this.#call = call
  }

  async answer(...[method, path, { query, body, signal } = {}]: Parameters<McpCall>): Promise<Answer> {
    const api = await this.connected()
    const answer = await api.raw({
      method,
      path,
      ...(query ? { query } : {}),
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...(LONG_PATHS.includes(path) ? { limitMs: LONG_LIMIT_MS } : {}),
      ...(signal ? { signal } : {}),
    })
    const status = answer.statusCode ?? 0
    const type = answer.headers['content-type'] ?? ''
    // What is not an answer of the API, such as a redirect or the page of a proxy, is told as by every command.
    if (status >= 300 && (status < 400 || status === EXPIRED || !type.startsWith('application/json')))
      throw await api.faultOf(answer)
    if (type.startsWith('text/event-stream')) return { status, body: answer }
    const text = await textOf(answer)
    return { status, body: type.startsWith('application/json') ? (JSON.parse(text) as unknown) : text }
  }

  async close(): Promise<void> {
    const api = await this.#api?.catch(() => undefined)
    api?.close()
  }

  connected(): Promise<Api> {
    this.#api ??= connect(this.#call).catch((error: unknown) => {
      this.#api = undefined
      throw error
    })
    return this.#api
  }
}

/** The token was revoked or has expired; the fault says how to sign in again. */
const EXPIRED = 401
