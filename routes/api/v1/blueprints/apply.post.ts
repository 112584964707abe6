import { applyBlueprint } from '#daemon/blueprints/apply.ts'
import { useWorld } from '#daemon/index.ts'
import { BlueprintInput, BlueprintQuery, isYaml } from '#server/blueprints/requests.ts'
import { BlueprintResult } from '#server/blueprints/schema.ts'
import { BODY_LIMIT_BYTES, readJson, readText } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { validate } from '#server/http/validate.ts'

export default defineEndpoint({
  summary: 'Apply a blueprint',
  description:
    'Creates or updates what the file describes and deletes nothing; what is so already stays `unchanged`. The file is of the native dialect or a `render.yaml`. All of it is done, or nothing: a file with faults is one 400 that has each of them with line and column, in `error.details` too.',
  auth: 'token',
  query: BlueprintQuery,
  body: {
    contentType: 'application/yaml',
    description: 'The file, or JSON that holds it; at most 2 MiB',
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
    return applyBlueprint(useWorld(), yaml, { environment, repository }, options)
  },
})
