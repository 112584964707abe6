import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { deleteDomain, findDomain } from '#server/domains/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Disconnect a domain',
  description:
    'Services stop being served under it at once; other hostnames and custom domains stay. Its certificates are no longer renewed, and its DNS records stay. The base domain cannot be disconnected.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  errors: ['conflict', 'runtime_error'],
  async handler({ params }) {
    deleteDomain(findDomain(params.id))
    await routed(useWorld())
  },
})
