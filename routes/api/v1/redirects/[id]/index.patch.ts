import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { findRedirectHost, patchRedirectHost, viewRedirectHost } from '#server/redirect-hosts/operations.ts'
import { RedirectHost, RedirectHostPatch, RedirectHostPath } from '#server/redirect-hosts/schema.ts'

export default defineEndpoint({
  summary: 'Change a redirect host',
  auth: 'token',
  least: 'full',
  params: RedirectHostPath,
  body: RedirectHostPatch,
  response: RedirectHost,
  errors: ['conflict', 'runtime_error'],
  async handler({ params, body }) {
    const redirect = patchRedirectHost(findRedirectHost(params.id), body)
    await routed(useWorld())
    return viewRedirectHost(redirect)
  },
})
