import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'

export const PRIVATE_USER = 'ci'

/** The environment of a git that ignores this machine's settings. */
export const CLEAN = {
  PATH: process.env.PATH!,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}
/** Answers with `git http-backend` (git-http-backend(1)). */
export function serveGit(request: IncomingMessage, response: ServerResponse, directory: string): void {
  const url = new URL(request.url!, 'http://host')
  // Below this folder no protocol version is passed on, like hosts that do not support it.
  const isOld = url.pathname.startsWith('/old-protocol/')
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...CLEAN,
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname.replace('/old-protocol/', '/')),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method!,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      REMOTE_USER: PRIVATE_USER,
      GIT_PROTOCOL: isOld ? '' : String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(backend.stdin)
  backend.stdin.on('error', () => {})
  let head = Buffer.alloc(0)
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    backend.stdout.off('data', onHead)
    const fields = head
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.split(/:\s*/, 2) as [string, string])
    const status = Number(fields.find(([name]) => name.toLowerCase() === 'status')?.[1].slice(0, 3) ?? 200)
    response.writeHead(status, Object.fromEntries(fields.filter(([name]) => name.toLowerCase() !== 'status')))
    response.write(head.subarray(end + 4))
    backend.stdout.pipe(response)
  }
  backend.stdout.on('data', onHead)
}
