import { setResponseHeader } from 'h3'
import { z } from 'zod'
import { AppError } from '#server/errors.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { isHead } from '#server/http/head.ts'
import { Deploy } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { admitHooked, HookQuery, runDeployHook } from '#server/deploys/hook.ts'

export default defineEndpoint({
  summary: 'Deploy by the secret URL of a service (GET)',
  description: 'As a manual deploy does: the configured source, or what `ref` or `image` names of it.',
  auth: 'none',
  admit: admitHooked,
  status: 202,
  params: z.strictObject({ service_id: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80'] }) }),
  query: HookQuery,
  response: Deploy,
  errors: ['unauthorized', 'conflict', 'method_not_allowed'],
  handler({ event, params, query }) {
    // A link checker that looks must not deploy.
    if (isHead(event.node.req)) {
      setResponseHeader(event, 'allow', 'GET, POST')
      throw new AppError('method_not_allowed', 'a deploy hook takes GET and POST, not HEAD')
    }
    return viewDeploy(runDeployHook(params.service_id, query))
  },
})
