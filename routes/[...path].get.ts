import { defineEventHandler, setResponseHeaders } from 'h3'
import { etag, page } from '#dashboard'
import { isKnown } from '#server/http/conditional.ts'
import { pageHeaders } from '#server/http/content-security.ts'
import { isDashboardPath } from '#server/http/pages.ts'
import { ConstantText } from '#server/http/send.ts'
import { refusalOfUnmatched } from '#server/http/unmatched.ts'

const dashboard = new ConstantText(page, 'text/html; charset=utf-8')

/** The dashboard: every other path is one of its pages, and the page itself reads the path. */
export default defineEventHandler(async (event) => {
  const path = event.path.split('?')[0]!
  if (!isDashboardPath(path)) throw await refusalOfUnmatched(event)
  setResponseHeaders(event, pageHeaders(path))
  if (!isKnown(event, etag)) await dashboard.send(event)
})
