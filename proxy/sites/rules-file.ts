/**
 * What `rules.json` beside a site's files says: how a path is answered otherwise than by its file, and with which
 * fields. The control plane writes it when the site is deployed.
 */
export interface SiteRules {
  /** The first that matches wins. */
  redirects: SiteRedirect[]
  /** Every one that matches counts. */
  headers: SiteHeaders[]
}

/** What a rule can answer with: 200 is a rewrite, 404 one that says that nothing is there. */
export const REDIRECT_STATUSES = [200, 301, 302, 303, 307, 308, 404] as const

/**
 * A line of `_redirects`. `from` is a path in which a segment `:name` takes one segment and a last `*` the rest; it may
 * be percent-encoded.
 */
export interface SiteRedirect {
  from: string
  /** A path or an absolute URL in which `:name` and `:splat` stand for what was taken. */
  to: string
  status: (typeof REDIRECT_STATUSES)[number]
}

/** A block of `_headers`: fields of the answers to paths that match, patterns as in `SiteRedirect`. */
export interface SiteHeaders {
  path: string
  fields: [name: string, value: string][]
}

/** Redirects of a site, and blocks of fields: each request to a new path may be compared with all of them. */
export const MAX_SITE_RULES = 1_000
/** Fields of one block. */
export const MAX_SITE_FIELDS = 100

/** Of Netlify: users and their passwords, which are for no browser to read. In lower case. */
export const PASSWORDS_FIELD = 'basic-auth'

/** Lower case names that rules may not set: they frame the message or say what the served file is. */
export const RESERVED_SITE_FIELDS: ReadonlySet<string> = new Set([
  'accept-ranges',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'location',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])
