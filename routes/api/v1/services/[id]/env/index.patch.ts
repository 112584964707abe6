import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { restartChanged } from '#server/services/restart.ts'
import { EnvPatch, EnvQuery, ShownEnvVar } from '#server/variables/schema.ts'
import { changeVariables } from '#server/services/variables.ts'

export default defineEndpoint({
  summary: "Set some of a service's variables and remove others",
  description:
    'Checked alone and with the linked groups. Containers get them at the next deploy or restart; `restart` queues one for each live service whose environment this changed.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: EnvQuery,
  body: EnvPatch,
  response: z.array(ShownEnvVar),
  errors: ['conflict'],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment)
    return restartChanged(query.restart, [service.environment_id], () =>
      changeVariables(service, body.set, body.unset),
    )
  },
})
