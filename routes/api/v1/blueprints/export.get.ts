import { exportBlueprint } from '#server/blueprints/export.ts'
import { ExportQuery } from '#server/blueprints/requests.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { originOf } from '#server/http/origin.ts'
import { ConstantText } from '#server/http/send.ts'

export default defineEndpoint({
  summary: 'Export an environment as a blueprint',
  description:
    'Applying it changes nothing. Values that look like secrets, and generated ones, are `sync: false` unless `secrets=include`. For a token that sees no secrets all values are.',
  auth: 'token',
  audit: 'blueprint.exported',
  least: 'read',
  query: ExportQuery,
  response: {
    contentType: 'application/yaml',
    description: 'A blueprint in the native dialect',
    isOpen: true,
  },
  handler: ({ event, query }) => {
    const values = query.keys_only ? 'none' : query.secrets === 'include' ? 'all' : 'plain'
    const text = exportBlueprint(findEnvironment(query.environment), values, originOf(event))
    return new ConstantText(text, 'application/yaml; charset=utf-8').send(event)
  },
})
