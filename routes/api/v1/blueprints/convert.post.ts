import { convertComposeAside } from '#server/blueprints/reading-thread.ts'
import { ConvertInput, ConvertResult, isYaml } from '#server/blueprints/requests.ts'
import { BODY_LIMIT_BYTES, readJson, readText } from '#server/http/body.ts'
import { originOf } from '#server/http/origin.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { validate } from '#server/http/validate.ts'

export default defineEndpoint({
  summary: 'Convert a Compose file into a blueprint',
  description:
    'Returns the blueprint in the native dialect, and warnings about differences. Nothing is applied.',
  auth: 'token',
  audit: false,
  least: 'full',
  body: {
    contentType: 'application/yaml',
    description: 'A `docker-compose.yml`, or JSON that contains it; at most 2 MiB',
    json: ConvertInput,
    limitBytes: BODY_LIMIT_BYTES,
  },
  response: ConvertResult,
  errors: ['payload_too_large', 'service_unavailable'],
  async handler({ event }) {
    const isFile = isYaml(event.node.req.headers['content-type'])
    const compose = isFile ? await readText(event) : validate(ConvertInput, await readJson(event)).compose
    return convertComposeAside(compose, originOf(event))
  },
})
