import { z } from 'zod'
import { checkEnvironment } from '#daemon/domains/host-checks.ts'
import { HostCheck } from '#server/domains/schema.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Check the DNS of an environment now',
  description:
    'For each domain that is not local, checks what a random host of the environment resolves to, and whether the server answers there on its public HTTP port.',
  auth: 'token',
  least: 'full',
  within: 'environment',
  params: IdOrName,
  response: z.array(HostCheck),
  handler: ({ params }) => checkEnvironment(findEnvironment(params.id)),
})
