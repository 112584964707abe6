import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Deploy } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { admitHooked, HookQuery, runDeployHook } from '#server/hooks/deploy-hook.ts'

export default defineEndpoint({
  summary: 'Deploy by the secret URL of a service (GET)',
  description: 'Like a manual deploy: deploys the configured source, or the `ref` or `image` given.',
  auth: 'none',
  audit: 'deploy.created',
  least: 'read',
  admit: admitHooked,
  refusesHead: true,
  status: 202,
  params: z.strictObject({ service_id: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80'] }) }),
  query: HookQuery,
  response: Deploy,
  errors: ['unauthorized', 'conflict'],
  handler: ({ params, query }) => viewDeploy(runDeployHook(params.service_id, query)),
})
