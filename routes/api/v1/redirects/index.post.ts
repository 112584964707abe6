import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { createRedirectHost, viewRedirectHost } from '#server/redirect-hosts/operations.ts'
import { RedirectHost, RedirectHostInput } from '#server/redirect-hosts/schema.ts'

export default defineEndpoint({
  summary: 'Redirect a host',
  description:
    'All requests to it, over HTTP and HTTPS, are redirected. Point its DNS at the server; it gets its certificate soon after.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: RedirectHostInput,
  response: RedirectHost,
  errors: ['conflict', 'runtime_error'],
  async handler({ body }) {
    const redirect = createRedirectHost(body)
    await routed(useWorld())
    return viewRedirectHost(redirect)
  },
})
