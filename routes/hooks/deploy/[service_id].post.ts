import { z } from 'zod'
import { BODY_LIMIT_BYTES, skipBody } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Deploy } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { admitHooked, HookQuery, runDeployHook } from '#server/hooks/deploy-hook.ts'

export default defineEndpoint({
  summary: 'Deploy by the secret URL of a service (POST)',
  description: 'Like a manual deploy: deploys the configured source, or the `ref` or `image` given.',
  auth: 'none',
  audit: 'deploy.created',
  least: 'read',
  admit: admitHooked,
  status: 202,
  params: z.strictObject({ service_id: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80'] }) }),
  query: HookQuery,
  body: {
    contentType: '*/*',
    description: 'Ignored, so that any webhook sender can call it',
    limitBytes: BODY_LIMIT_BYTES,
  },
  response: Deploy,
  errors: ['unauthorized', 'conflict'],
  async handler({ event, params, query }) {
    await skipBody(event, BODY_LIMIT_BYTES)
    return viewDeploy(runDeployHook(params.service_id, query))
  },
})
