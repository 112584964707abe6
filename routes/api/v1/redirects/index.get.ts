import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { viewRedirectHost } from '#server/redirect-hosts/operations.ts'
import { RedirectHost } from '#server/redirect-hosts/schema.ts'
import { listRedirectHosts } from '#server/redirect-hosts/store.ts'

export default defineEndpoint({
  summary: 'List the redirect hosts',
  auth: 'token',
  least: 'read',
  response: z.array(RedirectHost),
  handler: () => listRedirectHosts().map(viewRedirectHost),
})
