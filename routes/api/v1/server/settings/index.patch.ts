import { defineEndpoint } from '#server/http/endpoint.ts'
import { ServerSettings, ServerSettingsPatch } from '#server/server-backups/schema.ts'
import { patchServerSettings } from '#server/server-backups/settings.ts'

export default defineEndpoint({
  summary: "Change the server's settings",
  auth: 'token',
  least: 'full',
  body: ServerSettingsPatch,
  response: ServerSettings,
  handler: ({ body }) => patchServerSettings(body),
})
