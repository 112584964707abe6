import { useContext } from '#server/context.ts'
import { BODY_LIMIT_BYTES } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { readPosted } from '#server/http/posted.ts'
import { sendWebResponse } from '#server/http/web-response.ts'

export default defineEndpoint({
  summary: 'Speak the Model Context Protocol, with all tools',
  auth: 'api_token',
  audit: false,
  least: 'deploy',
  within: 'service',
  refusesOtherOrigins: true,
  body: { contentType: 'application/json', description: 'JSON-RPC', limitBytes: BODY_LIMIT_BYTES },
  // Whatever a tool answers comes from the API, with the caller's own token.
  response: { contentType: 'application/json', description: 'JSON-RPC', isOpen: true },
  async handler({ event }) {
    const posted = await readPosted(event)
    // Loaded by the first client: the protocol's library is larger than all else that answers requests.
    const { endpointOf } = await import('#mcp/http.ts')
    await sendWebResponse(event, await endpointOf(useContext().version, 'writing').answer(posted))
  },
})
