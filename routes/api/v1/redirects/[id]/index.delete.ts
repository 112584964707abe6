import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteRedirectHost, findRedirectHost } from '#server/redirect-hosts/operations.ts'
import { RedirectHostPath } from '#server/redirect-hosts/schema.ts'

export default defineEndpoint({
  summary: 'Remove a redirect host',
  auth: 'token',
  least: 'full',
  params: RedirectHostPath,
  errors: ['runtime_error'],
  async handler({ params }) {
    deleteRedirectHost(findRedirectHost(params.id))
    await routed(useWorld())
  },
})
