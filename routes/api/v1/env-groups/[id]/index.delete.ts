import { deleteEnvGroup, environmentsOf } from '#server/env-groups/operations.ts'
import { EnvGroupDeletion } from '#server/env-groups/schema.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { restartChanged } from '#server/services/restart.ts'

export default defineEndpoint({
  summary: 'Delete an env group',
  description:
    'Without `force`, refused while services are linked; with `restart`, their containers lose the variables now.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  query: EnvGroupDeletion,
  errors: ['conflict'],
  handler({ params, query }) {
    const group = findEnvGroup(params.id)
    restartChanged(query.restart, environmentsOf(group), () => deleteEnvGroup(group, query.force))
  },
})
