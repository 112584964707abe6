import { defineEndpoint } from '#server/http/endpoint.ts'
import { ServerSettings } from '#server/server-backups/schema.ts'
import { serverSettings } from '#server/server-backups/settings.ts'

export default defineEndpoint({
  summary: "Read the server's settings",
  auth: 'token',
  least: 'read',
  response: ServerSettings,
  handler: () => serverSettings(),
})
