import { findBlueprint } from '#server/blueprints/store.ts'
import { patchBlueprint, viewBlueprint } from '#server/blueprints/synced.ts'
import { SyncedBlueprint, SyncedBlueprintPatch } from '#server/blueprints/synced-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Change a synced blueprint',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  body: SyncedBlueprintPatch,
  response: SyncedBlueprint,
  errors: ['conflict'],
  handler: ({ params, body }) => viewBlueprint(patchBlueprint(findBlueprint(params.id), body)),
})
