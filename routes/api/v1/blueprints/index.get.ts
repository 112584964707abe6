import { z } from 'zod'
import { listBlueprints } from '#server/blueprints/store.ts'
import { viewBlueprint } from '#server/blueprints/synced.ts'
import { SyncedBlueprint } from '#server/blueprints/synced-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the blueprints that are synced from git',
  auth: 'token',
  least: 'read',
  response: z.array(SyncedBlueprint),
  handler: () => listBlueprints().map(viewBlueprint),
})
