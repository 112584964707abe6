import { useBlueprintSync } from '#daemon/index.ts'
import { BlueprintResult } from '#server/blueprints/schema.ts'
import { findBlueprint } from '#server/blueprints/store.ts'
import { changesOfApply } from '#server/blueprints/told.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Sync a blueprint now',
  description:
    'Reads the file at the head of the branch and applies it. Variables that were set by hand stay, unless the blueprint has `overwrite_variables`.',
  auth: 'token',
  changes: changesOfApply,
  least: 'full',
  params: IdOrName,
  response: BlueprintResult,
  errors: [
    'git_remote_unreachable',
    'git_authorization_rejected',
    'git_provider_unavailable',
    'payload_too_large',
    'service_unavailable',
  ],
  handler: ({ params }) => useBlueprintSync().sync(findBlueprint(params.id)),
})
