import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { changeVariables, findService } from '#server/services/operations.ts'
import { restartIfChanged } from '#server/services/restart.ts'
import { EnvVar } from '#server/services/schema.ts'
import { EnvPatch, EnvQuery } from '#server/variables/schema.ts'

export default defineEndpoint({
  summary: "Set some of a service's variables and remove others",
  description:
    'They reach the containers at the next deploy or restart; `restart` queues one when something changed.',
  auth: 'token',
  params: IdOrName,
  query: EnvQuery,
  body: EnvPatch,
  response: z.array(EnvVar),
  errors: ['conflict'],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment)
    return restartIfChanged(service, query.restart, () => changeVariables(service, body.set, body.unset))
  },
})
