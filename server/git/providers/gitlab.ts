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

/** https://docs.gitlab.com/api/commits/#set-commit-pipeline-status */
const MAX_DESCRIPTION_CHARACTERS = 255
/** The scopes that this server asks for. */
export const SCOPES = ['read_api', 'read_repository']

const User = z.object({ username: ProviderText, name: ProviderText.nullish() })
const TokenFacts = z.object({ scopes: z.array(ProviderText).default([]), expires_at: z.string().nullish() })

const Projects = z.array(
  z.object({
    id: z.int(),
    path: ProviderText,
    path_with_namespace: ProviderText,
    namespace: z.object({ full_path: ProviderText }),
    description: Description,
    default_branch: z.string().nullish(),
    http_url_to_repo: WebAddress,
    web_url: WebAddress,
    visibility: z.string().default('private'),
    archived: z.boolean().default(false),
    last_activity_at: z.string().nullish(),
  }),
)

/** The lifetime of an access token (https://docs.gitlab.com/api/oauth2/), used when an answer has no valid one. */
const USUAL_LIFETIME_SECONDS = 7_200
/** GitLab limits tokens of any kind to 400 days. */
const MAX_LIFETIME_SECONDS = 400 * 24 * 3_600

const Grant = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  // The old refresh token is used up, so the new one must be kept whatever is in this field. The column takes integers.
  expires_in: z
    .number()
    .positive()
    .max(MAX_LIFETIME_SECONDS)
    .transform(Math.floor)
    .catch(USUAL_LIFETIME_SECONDS),
  scope: z.string().nullish(),
})

/** A new or renewed authorization. */
export interface Granted {
  accessToken: string
  refreshToken: string
  expiresAt: number
  scopes: string[]
}

/** The REST API of GitLab (https://docs.gitlab.com/api/rest/) and its OAuth endpoints (https://docs.gitlab.com/api/oauth2/). */
export class GitLab implements ProviderApi {
  readonly gitUser = 'oauth2'
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  async ownerOf(token: string) {
    const user = await this.#api('/user', { headers: bearer(token) })
    const { username, name } = readAnswer(this.#place, User, user, 'does not say who the token belongs to')
    // Since GitLab 15.5, and only for personal access tokens.
    const facts = await this.#api('/personal_access_tokens/self', { headers: bearer(token) }).catch(
      () => null,
    )
    const parsed = facts?.status === 200 ? TokenFacts.safeParse(facts.body) : null
    const expiry = Date.parse(parsed?.data?.expires_at ?? '')
    return {
      account: username,
      accountName: name ?? null,
      scopes: parsed?.data?.scopes ?? [],
      expiresAt: Number.isNaN(expiry) ? null : expiry,
    }
  }

  async repositories(token: string) {
    const found: Repository[] = []
    for (let page = 1; ; page++) {
      const answer = await this.#api('/projects', {
        headers: bearer(token),
        query: { membership: 'true', order_by: 'last_activity_at', sort: 'desc', per_page: PAGE, page },
      })
      found.push(...readAnswer(this.#place, Projects, answer, 'did not list the projects').map(viewProject))
      const hasMore = (answer.headers.get('x-next-page') ?? '') !== ''
      if (!hasMore || page === MAX_PAGES) return { repositories: found.sort(byUpdate), truncated: hasMore }
    }
  }

  async canRead(token: string, path: string): Promise<boolean> {
    const answer = await this.#api(`/projects/${encodeURIComponent(path)}`, { headers: bearer(token) })
    return answer.status === 200
  }

  async reportStatus(
    token: string,
    path: string,
    sha: string,
    { state, context, description, url }: Parameters<ProviderApi['reportStatus']>[3],
  ) {
    const answer = await this.#api(`/projects/${encodeURIComponent(path)}/statuses/${sha}`, {
      method: 'POST',
      headers: bearer(token),
      body: {
        state: STATES[state],
        name: context,
        description: description.slice(0, MAX_DESCRIPTION_CHARACTERS),
        ...(url === null ? {} : { target_url: url }),
      },
    })
    if (answer.status !== 201) throw rejected(this.#place, answer, 'did not accept the status')
  }

  /** Exchanges the code of an authorization (RFC 6749 section 4.1.3, RFC 7636 section 4.5). */
  exchange(form: {
    client_id: string
    client_secret: string
    code: string
    redirect_uri: string
    code_verifier: string
  }): Promise<Granted> {
    return this.#grant({ grant_type: 'authorization_code', ...form })
  }

  /** Renews an authorization. The refresh token that is used becomes invalid. */
  refresh(form: { client_id: string; client_secret: string; refresh_token: string }): Promise<Granted> {
    return this.#grant({ grant_type: 'refresh_token', ...form })
  }

  async #grant(form: Record<string, string>): Promise<Granted> {
    const asked = Date.now()
    const body = new URLSearchParams(form)
    const answer = await ask(this.#place, `${this.#place.web}/oauth/token`, { method: 'POST', body })
    const granted = readAnswer(this.#place, Grant, answer, 'did not grant access')
    return {
      accessToken: granted.access_token,
      refreshToken: granted.refresh_token,
      expiresAt: asked + granted.expires_in * 1_000,
      scopes: granted.scope?.split(' ') ?? SCOPES,
    }
  }

  #api(path: string, question: JsonQuestion): Promise<Answer> {
    return ask(this.#place, this.#place.api + path, question)
  }
}

const STATES: Record<CommitState, string> = {
  pending: 'running',
  success: 'success',
  failure: 'failed',
  canceled: 'canceled',
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

function viewProject(project: z.infer<typeof Projects>[number]): Repository {
  const moment = Date.parse(project.last_activity_at ?? '')
  return {
    id: String(project.id),
    name: project.path,
    full_name: project.path_with_namespace,
    owner: project.namespace.full_path,
    description: project.description,
    default_branch: project.default_branch ?? null,
    clone_url: project.http_url_to_repo,
    web_url: project.web_url,
    private: project.visibility !== 'public',
    archived: project.archived,
    updated_at: Number.isNaN(moment) ? null : timestamp(moment),
  }
}
