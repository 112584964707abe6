import { defineEndpoint } from '#server/http/endpoint.ts'
import { webSocketOf } from '#server/http/web-socket.ts'
import { SHELL_SOCKET, ShellPath, ShellQuery } from '#server/shells/schema.ts'
import { joinShell } from '#server/shells/shells.ts'

export default defineEndpoint({
  summary: 'Use a shell',
  description:
    'A text is `{"resize": [rows, cols]}`, or `{"ack": bytes}`: how many bytes the client has shown in all. From the first one on it gets at most 512 KiB more than that. The server sends `{"exit_code": n}` when the program has ended by itself, and closes with 1000; with 1001 when the instance, the service, the datastore or the server goes away, with 1007 after another text, with 1008 when it was idle for 15 minutes or open for 8 hours or its session or token ends, with 1009 after a message over 1 MiB. The program ends with the connection.',
  // The ticket says who it is.
  auth: 'none',
  // The shell was recorded when it was opened.
  audit: false,
  least: 'full',
  refusesOtherOrigins: true,
  refusesHead: true,
  params: ShellPath,
  query: ShellQuery,
  response: SHELL_SOCKET,
  errors: ['unauthorized'],
  handler: ({ event, params, query }) => joinShell(params.id, query.ticket, webSocketOf(event, SHELL_SOCKET)),
})
