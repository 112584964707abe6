import type { Service, ServicePatch } from '../api/types.ts'

/** Lists of settings as texts with an entry per line, which people can paste. */

type Source = NonNullable<ServicePatch['ip_allow_list']>[number]
type Redirect = NonNullable<ServicePatch['redirects']>[number]
type ShownRedirect = NonNullable<Service['redirects']>[number]
type Header = NonNullable<ServicePatch['headers']>[number]

/** The status of a redirect that says none. */
const USUAL_STATUS = 308
/** The path of a header that says none. */
const EVERYWHERE = '/*'

/** The lines of a text that say something. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** `203.0.113.0/24 office` */
export function sourceLines(sources: readonly Source[]): string {
  return sources
    .map(({ source, description }) => (description ? `${source} ${description}` : source))
    .join('\n')
}

export function sourcesOf(text: string): Source[] {
  return linesOf(text).map((line) => {
    const [source, description] = parted(line)
    return { source, description: description || null }
  })
}

/** `/old/* /new/:splat 301`, as a line of `_redirects`. */
export function redirectLines(redirects: readonly ShownRedirect[]): string {
  return redirects
    .map(({ from, to, status }) => (status === USUAL_STATUS ? [from, to] : [from, to, status]).join(' '))
    .join('\n')
}

export function redirectsOf(text: string): Redirect[] {
  return linesOf(text).map((line) => {
    const [from, rest] = parted(line)
    const [to, status] = parted(rest)
    // The server says what is wrong with a status that is none.
    return {
      from,
      to,
      status: (status === '' ? USUAL_STATUS : Number(status)) as NonNullable<Redirect['status']>,
    }
  })
}

/** `/assets/* Cache-Control: no-cache`, the path only where it is not all paths; without a value, `- Server`. */
export function headerLines(headers: readonly Header[]): string {
  return headers
    .map(({ path = EVERYWHERE, name, value }) => {
      const field = value === null ? `- ${name}` : `${name}: ${value}`
      return path === EVERYWHERE ? field : `${path} ${field}`
    })
    .join('\n')
}

export function headersOf(text: string): Header[] {
  return linesOf(text).map((line) => {
    const [path, field] = line.startsWith('/') ? parted(line) : [EVERYWHERE, line]
    if (field.startsWith('-')) return { path, name: field.slice(1).trim(), value: null }
    const colon = field.indexOf(':')
    if (colon < 0) return { path, name: field, value: '' }
    return { path, name: field.slice(0, colon).trim(), value: field.slice(colon + 1).trim() }
  })
}

/** The first word of a line, and what follows it. */
function parted(line: string): [first: string, rest: string] {
  const end = line.search(/\s/)
  return end < 0 ? [line, ''] : [line.slice(0, end), line.slice(end).trim()]
}
