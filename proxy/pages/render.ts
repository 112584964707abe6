import type { Answer } from './answers.ts'

/** How an answer is written for one client. */
export interface Rendering {
  json: boolean
  /** HEAD gets only the head. */
  bodyless: boolean
  close: boolean
  requestId: string
  /** As in `hstsLine`; 0 omits the line. */
  hstsSeconds: number
}

/** Returns the header line that makes browsers use only TLS for so many seconds (RFC 6797 6.1). */
export function hstsLine(seconds: number): string {
  return `Strict-Transport-Security: max-age=${seconds}\r\n`
}

/** Returns the bytes of an answer, head and body, and how many of them are the head. */
export function render(
  answer: Answer,
  { json, bodyless, close, requestId, hstsSeconds }: Rendering,
): { bytes: Buffer; headBytes: number } {
  const [type, text] = bodyOf(answer, json, requestId)
  const body = Buffer.from(text)
  const head =
    `HTTP/1.1 ${answer.status} ${answer.reason}\r\n` +
    `Date: ${new Date().toUTCString()}\r\n` +
    `Content-Type: ${type}\r\n` +
    `Content-Length: ${body.length}\r\nCache-Control: no-store\r\n` +
    answer.headers +
    (answer.retrySeconds === undefined ? '' : `Retry-After: ${answer.retrySeconds}\r\n`) +
    (hstsSeconds === 0 ? '' : hstsLine(hstsSeconds)) +
    (requestId === '' ? '' : `X-Request-Id: ${requestId}\r\n`) +
    (close ? 'Connection: close\r\n\r\n' : '\r\n')
  const headOnly = Buffer.from(head, 'latin1')
  return { bytes: bodyless ? headOnly : Buffer.concat([headOnly, body]), headBytes: headOnly.length }
}

function bodyOf(answer: Answer, json: boolean, requestId: string): [type: string, text: string] {
  if (answer.content !== undefined) return ['application/octet-stream', answer.content]
  return json
    ? ['application/json', jsonBody(answer)]
    : ['text/html; charset=utf-8', answer.page ?? htmlBody(answer, requestId)]
}

function jsonBody(answer: Answer): string {
  return JSON.stringify({ error: { code: answer.code, message: `${answer.title}: ${answer.text}` } })
}

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center;color:#1f2430;background:#f6f7f9}
main{max-width:28rem;padding:2rem}h1{font-size:1.6rem;line-height:1.25;margin:.2em 0 .4em}p{margin:0}small{color:#697080}b{color:#4f5bd5;font-size:1.1rem}
footer{margin-top:2rem}@media(prefers-color-scheme:dark){body{color:#e8eaf0;background:#14161c}small{color:#9aa1b1}b{color:#9aa4ff}}`

function htmlBody({ status, title, text, retrySeconds }: Answer, requestId: string): string {
  // The page reloads itself, so that a visitor sees the service once it has started.
  const refresh = retrySeconds === undefined ? '' : `<meta http-equiv="refresh" content="${retrySeconds}">`
  // Safe without escaping: an id that a client chose has only letters, digits, dots, dashes and underscores.
  const footer = requestId === '' ? '' : `<footer><small>Request ${requestId}</small></footer>`
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">${refresh}<title>${title}</title><style>${STYLE}</style></head>
<body><main><b>${status}</b><h1>${title}</h1><p>${escapeHtml(text)}</p>${footer}</main></body></html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Returns the value of Accept in a copied request head, or an empty text. */
export function acceptOf(head: string): string {
  return /\r\naccept: ([^\r]*)/i.exec(head)?.[1] ?? ''
}

/** Whether an Accept value prefers JSON: it names a JSON type and not HTML. */
export function prefersJson(accept: string): boolean {
  return /[/+]json\b/i.test(accept) && !/text\/html/i.test(accept)
}
