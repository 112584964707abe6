import { fieldOf, type Field } from './field.ts'

/** RFC 7541 Appendix A, from index 1 on. */
const TEXT = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`

/** The fields that both ends know from the beginning; index 1 is the first. */
export const STATIC_FIELDS: readonly Field[] = TEXT.split('\n').map((line) => {
  const space = line.indexOf(' ')
  return space < 0 ? fieldOf(line, '') : fieldOf(line.slice(0, space), line.slice(space + 1))
})

/** The index of the first static field of each name. */
export const STATIC_NAMES: ReadonlyMap<string, number> = new Map(
  STATIC_FIELDS.map(({ name }, index) => [name, index + 1] as const).reverse(),
)

/** The indexes of the statuses in the table. */
export const STATIC_STATUSES: ReadonlyMap<number, number> = new Map(
  STATIC_FIELDS.flatMap(({ name, value }, index) =>
    name === ':status' ? [[Number(value), index + 1] as const] : [],
  ),
)
