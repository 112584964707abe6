import { verifyDomain } from '#daemon/index.ts'
import { findDomain } from '#server/domains/operations.ts'
import { Domain } from '#server/domains/schema.ts'
import { viewDomain } from '#server/domains/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Check a domain now',
  description:
    'Checks what a random name under it resolves to, and whether the server answers there on its public HTTP port. A local domain is returned unchanged.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  response: Domain,
  handler: async ({ params }) => viewDomain(await verifyDomain(findDomain(params.id))),
})
