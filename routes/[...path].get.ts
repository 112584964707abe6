import { defineEventHandler, getRequestHeader, send, setResponseHeaders, setResponseStatus } from 'h3'
import { etag, page } from '#dashboard'
import { AppError } from '#server/errors.ts'
import { PAGE_HEADERS } from '#server/http/content-security.ts'

/** Paths below which programs ask: what is not there is not the dashboard either. */
const NOT_PAGES = /^\/+(api|hooks|assets|metrics|healthz)(\/|$)/i

/** The dashboard: every other path is one of its pages, and the page itself finds out which. */
export default defineEventHandler((event) => {
  const path = event.path.split('?')[0]!
  if (NOT_PAGES.test(path)) throw new AppError('not_found', `there is nothing at ${path}`)
  setResponseHeaders(event, { ...PAGE_HEADERS, etag })
  if (getRequestHeader(event, 'if-none-match') === etag) {
    setResponseStatus(event, 304)
    return send(event)
  }
  return send(event, page, 'text/html; charset=utf-8')
})
