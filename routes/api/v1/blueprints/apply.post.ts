import { applyBlueprint } from '#daemon/blueprints/apply.ts'
import { useWorld } from '#daemon/index.ts'
import { BlueprintInput, BlueprintQuery, isYaml } from '#server/blueprints/requests.ts'
import { BlueprintResult } from '#server/blueprints/schema.ts'
import { changesOfApply } from '#server/blueprints/told.ts'
import { BODY_LIMIT_BYTES, readJson, readText } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { validate } from '#server/http/validate.ts'

export default defineEndpoint({
  summary: 'Apply a blueprint',
  description:
    'Creates or updates what the file describes and deletes nothing; what already matches is `unchanged`. The file is in the native dialect or a `render.yaml`. It is applied as a whole or not at all: a file with errors gets one 400 that lists each of them with line and column, also in `error.details`.',
  auth: 'token',
  audit: 'blueprint.applied',
  changes: changesOfApply,
  least: 'full',
  query: BlueprintQuery,
  body: {
    contentType: 'application/yaml',
    description: 'The file, or JSON that contains it; at most 2 MiB',
    json: BlueprintInput,
    limitBytes: BODY_LIMIT_BYTES,
  },
  response: BlueprintResult,
  errors: ['payload_too_large', 'service_unavailable'],
  async handler({ event, query }) {
    const isFile = isYaml(event.node.req.headers['content-type'])
    const input = isFile
      ? { yaml: await readText(event), dry_run: false }
      : validate(BlueprintInput, await readJson(event))
    const { yaml, dry_run, environment = query.environment, repo_url, branch }: BlueprintInput = input
    const repository = repo_url === undefined ? undefined : { url: repo_url, branch: branch ?? null }
    const options = { dryRun: dry_run || query.dry_run, keepsHandSet: false }
    event.context.changedNothing = options.dryRun
    return applyBlueprint(useWorld(), yaml, { environment, repository }, options)
  },
})
