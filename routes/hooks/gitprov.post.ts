import { z } from 'zod'
import { receiveFromAnyone } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { handleDelivery } from '#server/hooks/push-webhook.ts'
import { changesOfPush, DELIVERY_LIMIT_BYTES, PushAnswer, viewDelivered } from '#server/hooks/schema.ts'

export default defineEndpoint({
  summary: 'Deploy what was pushed (GitHub, Gitea, Forgejo, GitLab)',
  description:
    'Signed with the webhook secret. A push deploys every service with auto_deploy whose repository and branch match.',
  auth: 'none',
  audit: 'webhook.received',
  changes: changesOfPush,
  least: 'read',
  // Unknown query parameters are ignored: senders may add some, and a forger must not learn more than 401.
  query: z.looseObject({}),
  // Providers send JSON or a form under various content types; the signature is over the raw bytes.
  body: { contentType: '*/*', description: 'The payload, as JSON or form-encoded; at most 25 MiB' },
  response: PushAnswer,
  errors: ['not_found', 'unauthorized', 'payload_too_large'],
  handler: async ({ event }) =>
    viewDelivered(
      await handleDelivery(event.node.req.headers, () => receiveFromAnyone(event, DELIVERY_LIMIT_BYTES)),
    ),
})
