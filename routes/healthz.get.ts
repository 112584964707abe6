import { setResponseHeader } from 'h3'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Ask whether the server lives',
  auth: 'none',
  response: { contentType: 'text/plain', description: '`ok`' },
  handler({ event }) {
    setResponseHeader(event, 'content-type', 'text/plain')
    event.node.res.end('ok')
  },
})
