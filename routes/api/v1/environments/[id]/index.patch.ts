import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { hashesFor } from '#server/edge/columns.ts'
import { patchEnvironment } from '#server/environments/operations.ts'
import { Environment, EnvironmentPatch } from '#server/environments/schema.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { viewEnvironment } from '#server/environments/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Change what holds for all services of an environment',
  description:
    'Takes effect at once for services that have no `basic_auth` or `ip_allow_list` of their own. A name cannot be changed.',
  auth: 'token',
  least: 'full',
  within: 'environment',
  params: IdOrName,
  body: EnvironmentPatch,
  response: Environment,
  errors: ['runtime_error'],
  async handler({ params, body }) {
    const given = body.edge_defaults?.basic_auth
    const hashes = await hashesFor(given, findEnvironment(params.id).basic_auth)
    const environment = patchEnvironment(findEnvironment(params.id), body, hashes)
    await routed(useWorld())
    return viewEnvironment(environment)
  },
})
