import { environmentsOf } from '#server/env-groups/operations.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { putSecretFile } from '#server/secret-files/operations.ts'
import { GroupFileQuery, SecretFile, SecretFileInput, SecretFileRef } from '#server/secret-files/schema.ts'
import { viewSecretFile } from '#server/secret-files/view.ts'
import { restartChanged } from '#server/services/restart.ts'

export default defineEndpoint({
  summary: 'Give an env group a secret file, or replace it',
  description:
    'Checked together with the files of each linked service; `restart` restarts the services for which it changed something.',
  auth: 'token',
  least: 'full',
  params: SecretFileRef,
  query: GroupFileQuery,
  body: SecretFileInput,
  response: SecretFile,
  errors: ['conflict'],
  handler({ params, query, body }) {
    const group = findEnvGroup(params.id)
    const change = () => putSecretFile(group, params.name, body)
    return viewSecretFile(restartChanged(query.restart, environmentsOf(group), change))
  },
})
