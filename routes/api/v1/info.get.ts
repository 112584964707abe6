import { serverInfo } from '#daemon/info.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { ServerInfo } from '#server/info.ts'

export default defineEndpoint({
  summary: 'Read what the server is and runs on',
  auth: 'token',
  response: ServerInfo,
  handler: () => serverInfo(),
})
