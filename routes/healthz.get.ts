import { setResponseHeader } from 'h3'
import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Check whether the server is alive',
  auth: 'none',
  least: 'read',
  // Load balancers add query parameters that keep a cache from answering for the server.
  query: z.looseObject({}),
  response: { contentType: 'text/plain', description: '`ok`' },
  handler({ event }) {
    setResponseHeader(event, 'content-type', 'text/plain')
    event.node.res.end('ok')
  },
})
