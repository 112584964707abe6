/**
 * What the dashboard's page may load and do: its own files and its own server, nothing else, and no inline script.
 * Styles are inline where a component places itself (menus, dialogs, the log's rows).
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/**
 * The page from which the browser is sent on to a git provider by a form, whose host the administrator names; it is always
 * loaded by itself, so that no other page may send forms elsewhere.
 */
const SENDS_FORMS = '/git/register'

/** Headers of the dashboard's page at a path. The address may hold the setup code, so none is passed on. */
export function pageHeaders(path: string): Record<string, string> {
  const forms = path === SENDS_FORMS ? "'self' https: http:" : "'self'"
  return {
    'content-security-policy': `${POLICY}; form-action ${forms}`,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  }
}
