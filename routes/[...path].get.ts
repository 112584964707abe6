import { defineEventHandler, getRequestHeader, setResponseHeaders, setResponseStatus } from 'h3'
import { etag, page } from '#dashboard'
import { pageHeaders } from '#server/http/content-security.ts'
import { ConstantText } from '#server/http/send.ts'
import { refusalOfUnmatched } from '#server/http/unmatched.ts'

/** Paths below which programs ask: what is not there is not the dashboard either. */
const NOT_PAGES = /^\/+(api|hooks|assets|metrics|healthz)(\/|$)/i

const dashboard = new ConstantText(page, 'text/html; charset=utf-8')

/** The dashboard: every other path is one of its pages, and the page itself finds out which. */
export default defineEventHandler(async (event) => {
  const path = event.path.split('?')[0]!
  if (NOT_PAGES.test(path)) throw await refusalOfUnmatched(event)
  setResponseHeaders(event, { ...pageHeaders(path), etag })
  if (getRequestHeader(event, 'if-none-match') === etag) {
    setResponseStatus(event, 304)
    event.node.res.end()
  } else await dashboard.send(event)
})
