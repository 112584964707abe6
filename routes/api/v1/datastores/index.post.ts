import { provideAuthority } from '#server/datastores/authority.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { Datastore, DatastoreInput } from '#server/datastores/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { providedDatastore } from '#daemon/work/settled.ts'

export default defineEndpoint({
  summary: 'Create a datastore',
  description:
    'It is `creating` until it answers its first client. When it cannot be created, the answer is 201 too: its status is `failed` and `error` says why.',
  auth: 'token',
  least: 'full',
  within: 'environment',
  status: 201,
  body: DatastoreInput,
  response: Datastore,
  errors: ['conflict', 'not_found'],
  async handler({ body }) {
    await provideAuthority()
    return providedDatastore(createDatastore(body))
  },
})
