import appJwt from 'universal-github-app-jwt'
import { z } from 'zod'
import { timestamp } from '../../clock.ts'
import type { JsonQuestion } from '../../network/json.ts'
import type { Repository } from '../schema.ts'
import {
  byUpdate,
  Description,
  MAX_PAGES,
  PAGE,
  ProviderText,
  WebAddress,
  type CommitState,
  type ProviderApi,
} from './api.ts'
import { ask, readAnswer, rejected, type Answer } from './ask.ts'
import type { Place } from './place.ts'

/** https://docs.github.com/en/rest/about-the-rest-api/api-versions */
const VERSION = '2022-11-28'
/** GitHub refuses the description of a status that is longer. */
const MAX_DESCRIPTION_CHARACTERS = 140

const User = z.object({ login: ProviderText, name: ProviderText.nullish() })

const Repositories = z.array(
  z.object({
    id: z.int(),
    name: ProviderText,
    full_name: ProviderText,
    owner: z.object({ login: ProviderText }),
    description: Description,
    default_branch: z.string().nullish(),
    clone_url: WebAddress,
    html_url: WebAddress,
    private: z.boolean(),
    archived: z.boolean().default(false),
    updated_at: z.string().nullish(),
  }),
)
const InstallationRepositories = z.object({ repositories: Repositories })

/** An app created from a manifest. */
export const App = z.object({
  id: z.int(),
  slug: ProviderText,
  html_url: WebAddress,
  client_id: z.string(),
  client_secret: z.string(),
  // With an empty secret, anybody could sign a delivery.
  webhook_secret: z
    .string()
    .nullish()
    .transform((text) => text || null),
  pem: z.string(),
})
export type App = z.infer<typeof App>

/** Where an app was installed, and with which permissions. */
export const Installation = z.object({
  id: z.int(),
  html_url: WebAddress,
  account: z.object({ login: ProviderText, name: ProviderText.nullish() }),
  repository_selection: ProviderText.nullish(),
  permissions: z.record(ProviderText, ProviderText).default({}),
})
export type Installation = z.infer<typeof Installation>

const InstallationToken = z.object({ token: z.string(), expires_at: z.string() })

/** What an app authenticates with. */
export interface AppKey {
  id: number
  privateKey: string
}

/** The REST API of GitHub and GitHub Enterprise Server (https://docs.github.com/en/rest). */
export class GitHub implements ProviderApi {
  readonly gitUser = 'x-access-token'
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  async ownerOf(token: string) {
    const answer = await this.#ask('/user', { headers: bearer(token) })
    const { login, name } = readAnswer(this.#place, User, answer, 'does not say who the token belongs to')
    const scopes = answer.headers.get('x-oauth-scopes') ?? ''
    const expiry = Date.parse(
      (answer.headers.get('github-authentication-token-expiration') ?? '')
        .replace(' UTC', 'Z')
        .replace(' ', 'T'),
    )
    return {
      account: login,
      accountName: name ?? null,
      scopes: scopes.split(',').flatMap((scope) => (scope.trim() === '' ? [] : [scope.trim()])),
      expiresAt: Number.isNaN(expiry) ? null : expiry,
    }
  }

  async repositories(token: string, ofInstallation: boolean) {
    const found: Repository[] = []
    for (let page = 1; ; page++) {
      const path = ofInstallation ? '/installation/repositories' : '/user/repos'
      const query = { per_page: PAGE, page, ...(ofInstallation ? {} : { sort: 'updated' }) }
      const answer = await this.#ask(path, { headers: bearer(token), query })
      const fault = 'did not list the repositories'
      const listed = ofInstallation
        ? readAnswer(this.#place, InstallationRepositories, answer, fault).repositories
        : readAnswer(this.#place, Repositories, answer, fault)
      found.push(...listed.map(viewRepository))
      const hasMore = /;\s*rel="next"/.test(answer.headers.get('link') ?? '')
      if (!hasMore || page === MAX_PAGES) return { repositories: found.sort(byUpdate), truncated: hasMore }
    }
  }

  async canRead(token: string, path: string): Promise<boolean> {
    return (await this.#ask(`/repos/${escapePath(path)}`, { headers: bearer(token) })).status === 200
  }

  async reportStatus(
    token: string,
    path: string,
    sha: string,
    { state, context, description, url }: Parameters<ProviderApi['reportStatus']>[3],
  ) {
    const answer = await this.#ask(`/repos/${escapePath(path)}/statuses/${sha}`, {
      method: 'POST',
      headers: bearer(token),
      body: {
        state: STATES[state],
        context,
        description: description.slice(0, MAX_DESCRIPTION_CHARACTERS),
        ...(url === null ? {} : { target_url: url }),
      },
    })
    if (answer.status !== 201) throw rejected(this.#place, answer, 'did not accept the status')
  }

  /** Exchanges the code of a manifest for the app created from it. The code works once. */
  async convertManifest(code: string): Promise<App> {
    const answer = await this.#ask(`/app-manifests/${encodeURIComponent(code)}/conversions`, {
      method: 'POST',
    })
    return readAnswer(this.#place, App, answer, 'did not create the app')
  }

  /** An installation of an app; null when there is none, or the app itself is gone. */
  async installation(key: AppKey, id: number): Promise<Installation | null> {
    const answer = await this.#ask(`/app/installations/${id}`, { headers: bearer(await signIn(key)) })
    return answer.status === 404
      ? null
      : readAnswer(this.#place, Installation, answer, 'did not show the installation')
  }

  /** A token for what an installation may read, valid for about an hour. */
  async installationToken(key: AppKey, id: number): Promise<{ token: string; expiresAt: number }> {
    const answer = await this.#ask(`/app/installations/${id}/access_tokens`, {
      method: 'POST',
      headers: bearer(await signIn(key)),
    })
    if (answer.status === 404)
      throw rejected(this.#place, answer, 'no longer has this installation: authorize the connection again')
    const { token, expires_at } = readAnswer(this.#place, InstallationToken, answer, 'did not issue a token')
    return { token, expiresAt: Date.parse(expires_at) }
  }

  #ask(path: string, question: JsonQuestion): Promise<Answer> {
    const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': VERSION }
    return ask(this.#place, this.#place.api + path, {
      ...question,
      headers: { ...headers, ...question.headers },
    })
  }
}

const STATES: Record<CommitState, string> = {
  pending: 'pending',
  success: 'success',
  failure: 'failure',
  canceled: 'error',
}

async function signIn({ id, privateKey }: AppKey): Promise<string> {
  return (await appJwt({ id, privateKey })).token
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function viewRepository(repository: z.infer<typeof Repositories>[number]): Repository {
  const moment = Date.parse(repository.updated_at ?? '')
  return {
    id: String(repository.id),
    name: repository.name,
    full_name: repository.full_name,
    owner: repository.owner.login,
    description: repository.description,
    default_branch: repository.default_branch ?? null,
    clone_url: repository.clone_url,
    web_url: repository.html_url,
    private: repository.private,
    archived: repository.archived,
    updated_at: Number.isNaN(moment) ? null : timestamp(moment),
  }
}
