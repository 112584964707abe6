import { expect } from 'vitest'
import { request, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'

export const EMAIL = 'admin@example.com'
export const PASSWORD = 'correct horse battery staple'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Parsed JSON, or undefined when there was no body. */
  // oxlint-disable-next-line no-explicit-any -- tests look into answers freely
  body: any
}

type Headers = Record<string, string>

/** One request with exactly these headers: fetch would not let a test choose Host, Origin or Cookie. */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Headers = {},
): Promise<Answer> {
  const outgoing = request(url, { method, headers })
  outgoing.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject)
  })
  const content = await text(response)
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: content === '' ? undefined : (JSON.parse(content) as unknown),
  }
}

/** What a program with a token sends. */
export function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` }
}

/** A browser on the dashboard: it keeps its cookie and says where its changes come from. */
export class Browser {
  readonly #url: string
  readonly #headers: Headers
  readonly #origin: string
  cookie: string | undefined

  /** `url` is where the server listens, `origin` the origin that the browser sees, `headers` what a proxy in between adds. */
  constructor(url: string, origin: string = url, headers: Headers = {}) {
    this.#url = url
    this.#origin = origin
    this.#headers = headers
  }

  /** Sends a request under /api/v1; `headers` replace the browser's own, and an empty one is left out. */
  async send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const own: Headers = { ...this.#headers, host: new URL(this.#origin).host, origin: this.#origin }
    if (method === 'GET') delete own.origin
    if (this.cookie) own.cookie = this.cookie
    const all = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== '')
    const answer = await send(method, `${this.#url}/api/v1${path}`, body, Object.fromEntries(all))
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      this.cookie = cookie.includes('Max-Age=0') ? undefined : cookie.split(';')[0]
    }
    return answer
  }

  get = (path: string, headers?: Headers) => this.send('GET', path, undefined, headers)
  post = (path: string, body?: unknown, headers?: Headers) => this.send('POST', path, body, headers)
  delete = (path: string, headers?: Headers) => this.send('DELETE', path, undefined, headers)

  /** Creates the account and is signed in afterwards. */
  async setUp(code: string | null): Promise<this> {
    await this.post('/auth/setup', { code, email: EMAIL, password: PASSWORD })
    return this
  }

  /** Signs in with the usual account, or another password. */
  signIn(password: string = PASSWORD, email: string = EMAIL): Promise<Answer> {
    return this.post('/auth/login', { email, password })
  }
}

/** The shape of an error on the wire, for `toMatchObject`. */
export function refusal(status: number, code: string): { status: number; body: unknown } {
  return { status, body: { error: { code, message: expect.any(String) as string } } }
}
