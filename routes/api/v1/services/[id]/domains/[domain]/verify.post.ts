import { checkCustomDomain } from '#daemon/domains/host-checks.ts'
import { HostCheck } from '#server/domains/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findCustomDomain } from '#server/services/custom-domains.ts'
import { findService } from '#server/services/operations.ts'
import { CustomDomainRef } from '#server/services/input.ts'

export default defineEndpoint({
  summary: 'Check the DNS of a custom domain now',
  description:
    'Checks what it resolves to, and whether the server answers there on its public HTTP port. For a local name nothing is checked.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: CustomDomainRef,
  query: InEnvironment,
  response: HostCheck,
  handler: ({ params, query }) =>
    checkCustomDomain(findCustomDomain(findService(params.id, query.environment), params.domain)),
})
