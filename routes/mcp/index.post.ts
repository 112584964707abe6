import { useContext } from '#server/context.ts'
import { BODY_LIMIT_BYTES } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { readPosted } from '#server/http/posted.ts'
import { sendWebResponse } from '#server/http/web-response.ts'

export default defineEndpoint({
  summary: 'Speak the Model Context Protocol, with the tools that read',
  auth: 'api_token',
  refusesOtherOrigins: true,
  body: { contentType: 'application/json', description: 'JSON-RPC', limitBytes: BODY_LIMIT_BYTES },
  response: { contentType: 'application/json', description: 'JSON-RPC' },
  async handler({ event }) {
    const posted = await readPosted(event)
    // Loaded by the first client: the protocol's library is larger than all else that answers requests.
    const { endpointOf } = await import('#mcp/http.ts')
    await sendWebResponse(event, await endpointOf(useContext().version, 'reading').answer(posted))
  },
})
