import { findDomain, patchDomain } from '#server/domains/operations.ts'
import { Domain, DomainPatch } from '#server/domains/schema.ts'
import { viewDomain } from '#server/domains/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Make a domain the default',
  description:
    'Services are shown and linked under it (`url`, `DEPLOYER_EXTERNAL_URL`) and are still served under the others; running services get the new value at their next deploy or restart.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  body: DomainPatch,
  response: Domain,
  errors: ['conflict'],
  handler: ({ params, body }) => viewDomain(patchDomain(findDomain(params.id), body)),
})
