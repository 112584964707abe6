import { findDomain } from '#server/domains/operations.ts'
import { Domain } from '#server/domains/schema.ts'
import { viewDomain } from '#server/domains/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read a domain',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  response: Domain,
  handler: ({ params }) => viewDomain(findDomain(params.id)),
})
