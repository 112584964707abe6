import { findBlueprint } from '#server/blueprints/store.ts'
import { deleteBlueprint } from '#server/blueprints/synced.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Stop the sync of a blueprint',
  description: 'What it created stays.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  handler: ({ params }) => deleteBlueprint(findBlueprint(params.id)),
})
