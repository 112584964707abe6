import { createBlueprint, viewBlueprint } from '#server/blueprints/synced.ts'
import { SyncedBlueprint, SyncedBlueprintInput } from '#server/blueprints/synced-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Sync a blueprint from git',
  description:
    'A push to its branch that changes the file applies it. Nothing is applied yet: start the first sync, or push.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: SyncedBlueprintInput,
  response: SyncedBlueprint,
  errors: ['conflict', 'not_found'],
  handler: ({ body }) => viewBlueprint(createBlueprint(body)),
})
