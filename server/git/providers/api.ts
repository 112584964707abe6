import { z } from 'zod'
import { plainLine } from '../../text/plain-line.ts'
import type { Repository } from '../schema.ts'

/** The account that a token belongs to. */
export interface Owner {
  account: string
  accountName: string | null
  scopes: string[]
  expiresAt: number | null
}

export interface RepositoryList {
  repositories: Repository[]
  truncated: boolean
}

/** The progress of a deploy, in terms that all providers have. */
export type CommitState = 'pending' | 'success' | 'failure' | 'canceled'

export interface CommitStatus {
  state: CommitState
  context: string
  description: string
  /** A page with more details; null when no such page is reachable from the internet. */
  url: string | null
}

/** Limit for a repository's description. */
const MAX_DESCRIPTION_CHARACTERS = 1_000

/** A text from a provider that is stored or shown. Names have a few hundred characters at most. */
export const ProviderText = z
  .string()
  .max(1_000)
  .transform((text) => plainLine(text))
/** An address from a provider that users follow: only http and https are accepted. */
export const WebAddress = z
  .string()
  .max(1_000)
  .regex(/^https?:\/\//i)
  .transform((text) => plainLine(text))
/** What a provider says about a repository, which may be long. */
export const Description = z
  .string()
  .nullish()
  .transform((text) => (text ? plainLine(text, MAX_DESCRIPTION_CHARACTERS) : null))

/** How many repositories are listed at most, and how many come on a page. */
export const PAGE = 100
export const MAX_PAGES = 10

/** What this server asks of a provider, with a given token. Every call may throw what `ask` throws. */
export interface ProviderApi {
  /** The user name that git sends with the token. */
  gitUser: string
  ownerOf(token: string): Promise<Owner>
  /** The repositories that the token may read, most recently updated first. */
  repositories(token: string, ofInstallation: boolean): Promise<RepositoryList>
  /** Whether the token may read a repository, by its path such as `owner/name`. */
  canRead(token: string, path: string): Promise<boolean>
  /** Reports the deploy status of a commit to the provider. */
  reportStatus(token: string, path: string, sha: string, status: CommitStatus): Promise<void>
}

/** Sorts the latest first, and those without a time last. */
export function byUpdate(left: Repository, right: Repository): number {
  return Date.parse(right.updated_at ?? '') - Date.parse(left.updated_at ?? '') || 0
}
