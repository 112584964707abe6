import { z } from 'zod'
import { plainLine } from '../../text/plain-line.ts'
import type { Repository } from '../schema.ts'

/** Whose a token is. */
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

/** How far a deploy is, in the words that providers share. */
export type CommitState = 'pending' | 'success' | 'failure' | 'canceled'

export interface CommitStatus {
  state: CommitState
  context: string
  description: string
  /** Where a person reads more; null when there is no such place on the internet. */
  url: string | null
}

/** Of a repository's description. */
const MAX_DESCRIPTION_CHARACTERS = 1_000

/** A text of a provider that is kept or shown: names have a few hundred characters at most. */
export const ProviderText = z
  .string()
  .max(1_000)
  .transform((text) => plainLine(text))
/** An address of a provider that people follow: nothing but the web, whatever the provider says. */
export const WebAddress = z
  .string()
  .max(1_000)
  .regex(/^https?:\/\//i)
  .transform((text) => plainLine(text))
/** What an account says of a repository, which may be long. */
export const Description = z
  .string()
  .nullish()
  .transform((text) => (text ? plainLine(text, MAX_DESCRIPTION_CHARACTERS) : null))

/** The most repositories that are listed, and the pages they come in. */
export const PAGE = 100
export const MAX_PAGES = 10

/** What this server asks of a provider with a token that it was given; every call may throw as `ask` does. */
export interface ProviderApi {
  /** The user name that git is given beside the token. */
  gitUser: string
  ownerOf(token: string): Promise<Owner>
  /** The repositories that the token may read, most recently updated first. */
  repositories(token: string, ofInstallation: boolean): Promise<RepositoryList>
  /** Whether the token may read a repository, by its path such as `owner/name`. */
  canRead(token: string, path: string): Promise<boolean>
  /** Tells the provider how far a commit is. */
  tellStatus(token: string, path: string, sha: string, status: CommitStatus): Promise<void>
}

/** The latest first; those without a moment last. */
export function byUpdate(left: Repository, right: Repository): number {
  return Date.parse(right.updated_at ?? '') - Date.parse(left.updated_at ?? '') || 0
}
