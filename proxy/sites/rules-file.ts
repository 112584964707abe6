/**
 * The content of `rules.json` next to a site's files: which paths are answered by something other than their file, and with
 * which fields. The control plane writes it when the site is deployed.
 */
export interface SiteRules {
  /** The first one that matches wins. */
  redirects: SiteRedirect[]
  /** All that match apply. */
  headers: SiteHeaders[]
}

/** The statuses that a rule can have: 200 is a rewrite, and 404 a rewrite that says that the page was not found. */
export const REDIRECT_STATUSES = [200, 301, 302, 303, 307, 308, 404] as const

/**
 * A line of `_redirects`. `from` is a path in which a segment `:name` captures one segment and a final `*` the rest; it may
 * be percent-encoded.
 */
export interface SiteRedirect {
  from: string
  /** A path or an absolute URL in which `:name` and `:splat` are replaced by what was captured. */
  to: string
  status: (typeof REDIRECT_STATUSES)[number]
}

/** A block of `_headers`: fields for answers to paths that match; patterns as in `SiteRedirect`. */
export interface SiteHeaders {
  path: string
  fields: [name: string, value: string][]
}

/** Max redirects of a site, and max blocks of fields: each request to a new path may be compared with all of them. */
export const MAX_SITE_RULES = 1_000
/** Max fields of one block. */
export const MAX_SITE_FIELDS = 100

/** Netlify's users and passwords, which browsers must not see. In lower case. */
export const PASSWORDS_FIELD = 'basic-auth'

/** Names in lower case that rules must not set: they frame the message or describe the served file. */
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
