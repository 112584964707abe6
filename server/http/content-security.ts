/**
 * What the dashboard's page may load and do: only its own files and its own server, and no inline script. Inline styles are
 * allowed because components position themselves with them (menus, dialogs, the log's rows).
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
 * The page that sends the browser to a git provider by a form, to a host that the administrator names. The page is always
 * loaded on its own, so that no other page of the dashboard may send forms elsewhere.
 */
const FORM_PAGE = '/git/register'

/** Headers of the dashboard's page at a path. The address may contain the setup code, so no referrer is sent. */
export function pageHeaders(path: string): Record<string, string> {
  const forms = path === FORM_PAGE ? "'self' https: http:" : "'self'"
  return {
    'content-security-policy': `${POLICY}; form-action ${forms}`,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  }
}
