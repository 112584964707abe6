import { findBlueprint } from '#server/blueprints/store.ts'
import { viewBlueprint } from '#server/blueprints/synced.ts'
import { SyncedBlueprint } from '#server/blueprints/synced-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read a synced blueprint with its last result',
  auth: 'token',
  least: 'read',
  params: IdOrName,
  response: SyncedBlueprint,
  handler: ({ params }) => viewBlueprint(findBlueprint(params.id)),
})
