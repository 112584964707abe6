import { environmentsOf } from '#server/env-groups/operations.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteSecretFile } from '#server/secret-files/operations.ts'
import { GroupFileQuery, SecretFileRef } from '#server/secret-files/schema.ts'
import { restartChanged } from '#server/services/restart.ts'

export default defineEndpoint({
  summary: "Delete an env group's secret file",
  description:
    'Containers keep it until the next deploy or restart; `restart` restarts the services that had it.',
  auth: 'token',
  least: 'full',
  params: SecretFileRef,
  query: GroupFileQuery,
  errors: ['conflict'],
  handler({ params, query }) {
    const group = findEnvGroup(params.id)
    restartChanged(query.restart, environmentsOf(group), () => deleteSecretFile(group, params.name))
  },
})
