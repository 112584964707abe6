import { environmentsOf, replaceGroupVariables } from '#server/env-groups/operations.ts'
import { EnvGroup, EnvGroupQuery } from '#server/env-groups/schema.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { viewEnvGroup } from '#server/env-groups/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { restartChanged } from '#server/services/restart.ts'
import { EnvReplacement } from '#server/variables/schema.ts'

export default defineEndpoint({
  summary: "Replace all of an env group's variables",
  description:
    'Checked alone and in the whole environment of each linked service; `restart` restarts the services that it changed.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  query: EnvGroupQuery,
  body: EnvReplacement,
  response: EnvGroup,
  errors: ['conflict'],
  handler({ params, query, body }) {
    const group = findEnvGroup(params.id)
    const change = () => replaceGroupVariables(group, body.vars)
    return viewEnvGroup(restartChanged(query.restart, environmentsOf(group), change))
  },
})
