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
  "form-action 'self'",
].join('; ')

/** Headers of every answer that is the dashboard's page. The address may hold the setup code, so none is passed on. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}
