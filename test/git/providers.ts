import { createHash, generateKeyPairSync, randomBytes, verify, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveGit } from './smart-http.ts'

/**
 * Fake GitHub and GitLab, as far as this server uses them, built from their public documentation (docs.github.com/en/rest,
 * docs.gitlab.com/api): the shapes of answers are those of its examples, without what nobody reads. Repositories are
 * real ones over smart HTTP; private ones need the tokens that this provider gave out.
 */
export class PlayedProvider {
  readonly url: string
  /** All requests, in order. */
  readonly asked: { method: string; path: string; authorization: string | null; body: string }[] = []
  /** Personal access tokens by their owner. */
  readonly tokens = new Map<string, string>()
  /** What a token may read; `full_name` and whether it is private. */
  readonly repositories: PlayedRepository[] = []
  /** Commit statuses that were reported, oldest first. */
  readonly statuses: { path: string; sha: string; body: Record<string, unknown> }[] = []
  /** Answers in place of the real ones, by a beginning of `METHOD /path`. */
  readonly instead = new Map<string, (response: ServerResponse) => void>()
  readonly apps = new Map<number, PlayedApp>()
  readonly #codes = new Map<string, PlayedApp>()
  readonly #grants = new Map<string, { challenge: string; redirectUri: string; clientId: string }>()
  readonly #refreshTokens = new Set<string>()
  readonly oauth = {
    clientId: 'client-1',
    clientSecret: 'client-secret-1',
    lifetimeSeconds: 7_200,
    user: 'ada',
  }
  readonly #server: ReturnType<typeof createServer>

  readonly #directory: string

  private constructor(server: ReturnType<typeof createServer>, directory: string) {
    this.#server = server
    this.#directory = directory
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Plays both providers over the repositories of a folder, whose paths are `<owner>/<name>.git`. */
  static async start(directory: string): Promise<PlayedProvider> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const provider = new PlayedProvider(server, directory)
    server.on('request', (request, response) => void provider.#answer(request, response))
    return provider
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Registers an app from a manifest, like the page to which the browser posted it; returns the code. */
  register(manifest: Record<string, unknown>, owner: string): string {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const id = 1_000 + this.apps.size
    const hooks = manifest.hook_attributes !== undefined
    const app: PlayedApp = {
      id,
      slug: `deployer-${id}`,
      owner,
      manifest,
      publicKey,
      pem: privateKey.export({ type: 'pkcs1', format: 'pem' }),
      webhookSecret: hooks ? randomBytes(20).toString('hex') : null,
      installations: new Map(),
    }
    this.apps.set(id, app)
    const code = randomBytes(20).toString('hex')
    this.#codes.set(code, app)
    return code
  }

  /** Installs an app on its owner's account; returns the installation's id. */
  install(app: PlayedApp, selection = 'selected'): number {
    const id = 5_000 + app.id + app.installations.size
    app.installations.set(id, { id, selection, token: null })
    return id
  }

  /** Grants what an authorization page of GitLab was asked for; returns the code. */
  grant(query: URLSearchParams): string {
    const code = randomBytes(16).toString('hex')
    this.#grants.set(code, {
      challenge: query.get('code_challenge') ?? '',
      redirectUri: query.get('redirect_uri') ?? '',
      clientId: query.get('client_id') ?? '',
    })
    return code
  }

  /** Ends every OAuth access token; the refresh tokens stay valid. */
  expire(): void {
    for (const token of [...this.tokens.keys()]) if (token.startsWith('gloas-')) this.tokens.delete(token)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url)
    const isGit = /\.git\/(info\/refs|git-upload-pack|HEAD|objects)/.test(url.pathname)
    const authorization = request.headers.authorization ?? null
    if (isGit) return this.#serveGit(request, response, url, authorization)
    let body = ''
    for await (const piece of request) body += String(piece)
    this.asked.push({ method: request.method!, path: url.pathname + url.search, authorization, body })
    const key = `${request.method} ${url.pathname}`
    const other = [...this.instead].find(([beginning]) => key.startsWith(beginning))?.[1]
    if (other) return other(response)
    const page = this.#pageFor(request.method!, url, body)
    if (page !== null) return void response.writeHead(page.status, page.headers).end(page.text)
    const found = this.#route(request.method!, url, authorization, body)
    const { status, json, headers = {} } = found ?? { status: 404, json: { message: 'Not Found' } }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    response.end(JSON.stringify(json))
  }

  #serveGit(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    authorization: string | null,
  ): void {
    this.asked.push({ method: request.method!, path: url.pathname, authorization, body: '' })
    const fullName = /^\/(.+)\.git\//.exec(url.pathname)?.[1]
    const repository = this.repositories.find(({ full_name }) => full_name === fullName)
    const password = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .replace(/^[^:]*:/, '')
    const mayRead = repository && (!repository.private || this.#mayRead(password, repository))
    if (!mayRead) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end('Repository not found.')
      return
    }
    serveGit(request, response, this.#directory)
  }

  #mayRead(token: string, { readers }: PlayedRepository): boolean {
    const who = this.#ownerOf(token)
    return who !== null && readers.includes(who)
  }

  /** The owner of a token: a user, or the owner of an app that it was created for. */
  #ownerOf(token: string): string | null {
    const installation = [...this.apps.values()].find((app) =>
      [...app.installations.values()].some((each) => each.token === token),
    )
    return this.tokens.get(token) ?? installation?.owner ?? null
  }

  #route(method: string, url: URL, authorization: string | null, body: string): Reply | null {
    const path = url.pathname
    const token = authorization?.replace(/^Bearer /, '') ?? ''
    const match = (pattern: RegExp): string[] | null => pattern.exec(path)?.slice(1) ?? null
    const conversion = match(/^\/api\/v3\/app-manifests\/([^/]+)\/conversions$/)
    if (conversion && method === 'POST') return this.#convert(conversion[0]!)
    const installation = match(/^\/api\/v3\/app\/installations\/(\d+)(\/access_tokens)?$/)
    if (installation) return this.#installation(Number(installation[0]), installation[1] !== undefined, token)
    if (path === '/oauth/token' && method === 'POST') return this.#token(new URLSearchParams(body))
    const who = this.#ownerOf(token)
    if (who === null) return { status: 401, json: { message: 'Bad credentials' } }
    if (path === '/api/v3/user') {
      const headers = {
        'x-oauth-scopes': 'repo, read:org',
        'github-authentication-token-expiration': '2030-01-02 03:04:05 UTC',
      }
      return { status: 200, json: { login: who, id: 1, type: 'User', name: `${who} of GitHub` }, headers }
    }
    if (path === '/api/v4/user')
      return { status: 200, json: { id: 7, username: who, name: `${who} of GitLab` } }
    if (path === '/api/v4/personal_access_tokens/self')
      return {
        status: 200,
        json: { id: 9, scopes: ['read_api', 'read_repository'], expires_at: '2030-01-02' },
      }
    const mine = this.repositories.filter((repository) => repository.readers.includes(who))
    if (path === '/api/v3/user/repos') return this.#page(url, mine.map(this.#gitHubShape), 'link')
    if (path === '/api/v3/installation/repositories') {
      const page = this.#page(url, mine.map(this.#gitHubShape), 'link')
      return { ...page, json: { total_count: mine.length, repositories: page.json } }
    }
    if (path === '/api/v4/projects') return this.#page(url, mine.map(this.#gitLabShape), 'x-next-page')
    const one = match(/^\/api\/v3\/repos\/([^/]+\/[^/]+)$/) ?? match(/^\/api\/v4\/projects\/([^/]+)$/)
    if (one) {
      const found = mine.find(({ full_name }) => full_name === decodeURIComponent(one[0]!))
      return found ? { status: 200, json: this.#gitHubShape(found) } : null
    }
    const status =
      match(/^\/api\/v3\/repos\/([^/]+\/[^/]+)\/statuses\/(\w+)$/) ??
      match(/^\/api\/v4\/projects\/([^/]+)\/statuses\/(\w+)$/)
    if (status && method === 'POST') {
      const told = {
        path: decodeURIComponent(status[0]!),
        sha: status[1]!,
        body: JSON.parse(body) as Record<string, unknown>,
      }
      this.statuses.push(told)
      return { status: 201, json: { id: this.statuses.length, ...told.body } }
    }
    return null
  }

  /** What a person sees at the provider: one button per page, which sends the browser back. */
  #pageFor(
    method: string,
    url: URL,
    body: string,
  ): { status: number; headers: Record<string, string>; text: string } | null {
    const button = (label: string, to: string) => ({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      text: `<!doctype html><html lang="en"><title>Provider</title><a href="${to.replaceAll('&', '&amp;')}">${label}</a></html>`,
    })
    const owner = /^(?:\/organizations\/([^/]+))?\/settings\/apps\/new$/.exec(url.pathname)
    if (owner && method === 'POST') {
      const manifest = JSON.parse(new URLSearchParams(body).get('manifest')!) as Record<string, string>
      const code = this.register(manifest, owner[1] ?? 'ada')
      return button(
        'Create GitHub App',
        `${manifest.redirect_url}?code=${code}&state=${url.searchParams.get('state')}`,
      )
    }
    const slug = /^\/apps\/([^/]+)\/installations\/new$/.exec(url.pathname)?.[1]
    const app = [...this.apps.values()].find((each) => each.slug === slug)
    if (app) {
      const id = this.install(app)
      const query = `installation_id=${id}&setup_action=install&state=${url.searchParams.get('state')}`
      return button('Install', `${String(app.manifest.setup_url)}?${query}`)
    }
    if (url.pathname !== '/oauth/authorize') return null
    const code = this.grant(url.searchParams)
    return button(
      'Authorize',
      `${url.searchParams.get('redirect_uri')}?code=${code}&state=${url.searchParams.get('state')}`,
    )
  }

  #convert(code: string): Reply | null {
    const app = this.#codes.get(code)
    this.#codes.delete(code)
    if (!app) return null
    const json = {
      id: app.id,
      slug: app.slug,
      node_id: 'MDExOkludGVncmF0aW9uMQ==',
      owner: { login: app.owner, id: 1, type: 'User' },
      name: app.manifest.name,
      html_url: `${this.url}/apps/${app.slug}`,
      client_id: `Iv1.${app.id}`,
      client_secret: 'an app secret',
      webhook_secret: app.webhookSecret,
      pem: app.pem,
    }
    return { status: 201, json }
  }

  #installation(id: number, wantsToken: boolean, jwt: string): Reply | null {
    const app = this.#appOf(jwt)
    if (!app) return { status: 401, json: { message: 'A JSON web token could not be decoded' } }
    const installation = app.installations.get(id)
    if (!installation) return null
    const permissions = app.manifest.default_permissions
    if (!wantsToken) {
      const account = { login: app.owner, id: 1, type: 'Organization' }
      const html_url = `${this.url}/organizations/${app.owner}/settings/installations/${id}`
      return {
        status: 200,
        json: {
          id,
          account,
          html_url,
          app_id: app.id,
          repository_selection: installation.selection,
          permissions,
        },
      }
    }
    installation.token = `ghs_${randomBytes(18).toString('hex')}`
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    return {
      status: 201,
      json: {
        token: installation.token,
        expires_at,
        permissions,
        repository_selection: installation.selection,
      },
    }
  }

  /** The app that signed a JSON Web Token (RS256), if its times are right. */
  #appOf(jwt: string): PlayedApp | undefined {
    const [head, payload, signature] = jwt.split('.')
    if (!head || !payload || !signature) return undefined
    const { iss, iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<
      string,
      number
    >
    const app = this.apps.get(Number(iss))
    const now = Date.now() / 1_000
    const isTimely = iat! <= now + 60 && exp! > now && exp! - now <= 600
    const bytes = Buffer.from(`${head}.${payload}`)
    const isSigned = app && verify('sha256', bytes, app.publicKey, Buffer.from(signature, 'base64url'))
    return isTimely && isSigned ? app : undefined
  }

  #token(form: URLSearchParams): Reply {
    const refused = (error: string): Reply => ({
      status: error === 'invalid_client' ? 401 : 400,
      json: { error, error_description: `The provided grant is invalid (${error}).` },
    })
    if (
      form.get('client_id') !== this.oauth.clientId ||
      form.get('client_secret') !== this.oauth.clientSecret
    )
      return refused('invalid_client')
    if (form.get('grant_type') === 'refresh_token') {
      if (!this.#refreshTokens.delete(form.get('refresh_token')!)) return refused('invalid_grant')
    } else {
      const grant = this.#grants.get(form.get('code') ?? '')
      this.#grants.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (!grant || grant.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri'))
        return refused('invalid_grant')
    }
    const access_token = `gloas-${randomBytes(16).toString('hex')}`
    const refresh_token = randomBytes(16).toString('hex')
    this.tokens.set(access_token, this.oauth.user)
    this.#refreshTokens.add(refresh_token)
    const created_at = Math.floor(Date.now() / 1_000)
    const expires_in = this.oauth.lifetimeSeconds
    return {
      status: 200,
      json: {
        access_token,
        token_type: 'Bearer',
        expires_in,
        refresh_token,
        scope: 'read_api read_repository',
        created_at,
      },
    }
  }

  #page(url: URL, all: object[], style: 'link' | 'x-next-page'): Reply & { json: object[] } {
    const size = Number(url.searchParams.get('per_page') ?? 20)
    const page = Number(url.searchParams.get('page') ?? 1)
    const hasMore = all.length > page * size
    const next = hasMore ? String(page + 1) : ''
    const headers: Record<string, string> =
      style === 'link'
        ? hasMore
          ? { link: `<${url.origin}${url.pathname}?page=${next}>; rel="next", <${url.origin}>; rel="last"` }
          : {}
        : { 'x-next-page': next }
    return { status: 200, json: all.slice((page - 1) * size, page * size), headers }
  }

  readonly #gitHubShape = ({ full_name, ...rest }: PlayedRepository): object => ({
    id: rest.id,
    node_id: 'MDEwOlJlcG9zaXRvcnkx',
    name: full_name.split('/')[1],
    full_name,
    owner: { login: full_name.split('/')[0], id: 1 },
    private: rest.private,
    html_url: `${this.url}/${full_name}`,
    description: null,
    fork: false,
    clone_url: `${this.url}/${full_name}.git`,
    ssh_url: `git@127.0.0.1:${full_name}.git`,
    default_branch: 'main',
    archived: false,
    updated_at: rest.updated_at,
  })

  readonly #gitLabShape = ({ full_name, ...rest }: PlayedRepository): object => ({
    id: rest.id,
    path: full_name.split('/').at(-1),
    path_with_namespace: full_name,
    namespace: { id: 2, kind: 'group', full_path: full_name.split('/').slice(0, -1).join('/') },
    description: null,
    default_branch: 'main',
    http_url_to_repo: `${this.url}/${full_name}.git`,
    ssh_url_to_repo: `git@127.0.0.1:${full_name}.git`,
    web_url: `${this.url}/${full_name}`,
    visibility: rest.private ? 'private' : 'public',
    archived: false,
    last_activity_at: rest.updated_at,
  })

  /** Adds a repository that exists in the folder, or only in lists. */
  add(full_name: string, readers: string[], more: Partial<PlayedRepository> = {}): PlayedRepository {
    const id = this.repositories.length + 1
    const repository = { id, full_name, readers, private: true, updated_at: '2026-01-02T03:04:05Z', ...more }
    this.repositories.push(repository)
    return repository
  }
}

interface Reply {
  status: number
  json: unknown
  headers?: Record<string, string>
}

export interface PlayedRepository {
  id: number
  full_name: string
  readers: string[]
  private: boolean
  updated_at: string
}

export interface PlayedApp {
  id: number
  slug: string
  owner: string
  manifest: Record<string, unknown>
  publicKey: KeyObject
  pem: string
  webhookSecret: string | null
  installations: Map<number, { id: number; selection: string; token: string | null }>
}
