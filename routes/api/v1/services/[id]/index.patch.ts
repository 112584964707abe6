import { hashesFor } from '#server/edge/columns.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService, patchService } from '#server/services/operations.ts'
import { ServicePatch } from '#server/services/input.ts'
import { ROUTING_FIELDS, type ServiceRow } from '#server/services/store.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'
import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { applied } from '#daemon/work/settled.ts'

export default defineEndpoint({
  summary: 'Change a service',
  description: 'Build settings take effect on the next deploy; an empty string clears an optional text.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  body: ServicePatch,
  response: Service,
  errors: ['conflict', 'runtime_error'],
  async handler({ params, query, body }) {
    const find = (): ServiceRow => findService(params.id, query.environment)
    const hashes = await hashesFor(body.basic_auth, find().basic_auth)
    const service = patchService(find(), body, hashes)
    if (isRouting(body)) await routed(useWorld())
    return takesEffectNow(body) ? applied(service) : viewService(service)
  },
})

/** Whether a patch changes what the data plane knows of a service in addition to its addresses: its hosts, for example. */
function isRouting(body: ServicePatch): boolean {
  return body.name !== undefined || ROUTING_FIELDS.some((field) => body[field] !== undefined)
}

/**
 * Whether a patch takes effect at once. Everything else is only saved for the next deploy or restart, so it does not matter
 * whether the engine answers.
 */
function takesEffectNow({ name, instances, suspended }: ServicePatch): boolean {
  return name !== undefined || instances !== undefined || suspended !== undefined
}
