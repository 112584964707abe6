import { defineEndpoint } from '#server/http/endpoint.ts'
import { findRedirectHost, viewRedirectHost } from '#server/redirect-hosts/operations.ts'
import { RedirectHost, RedirectHostPath } from '#server/redirect-hosts/schema.ts'

export default defineEndpoint({
  summary: 'Read a redirect host',
  auth: 'token',
  least: 'read',
  params: RedirectHostPath,
  response: RedirectHost,
  handler: ({ params }) => viewRedirectHost(findRedirectHost(params.id)),
})
