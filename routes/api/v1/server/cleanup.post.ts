import { useCleaner } from '#daemon/index.ts'
import { useContext } from '#server/context.ts'
import { CleanupInput, CleanupResult } from '#server/disk-use/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Remove what the server created and no longer needs',
  description:
    "What the server does by itself every minute, now and with an answer. Nothing is removed that a rollback or a deploy could still use, nor anything that others created. Of the engine's build cache only what is over the server's limit goes. Without `kinds` and without an engine, what is in the engine is left out.",
  auth: 'token',
  audit: 'server.cleaned_up',
  least: 'full',
  body: CleanupInput,
  response: CleanupResult,
  errors: ['conflict', 'runtime_error'],
  handler({ event, body }) {
    event.context.changedNothing = body.dry_run
    return useCleaner().clean(body.kinds, body.dry_run, useContext().stopping)
  },
})
