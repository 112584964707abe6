import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createServer, type ServerOptions } from './server.ts'

/**
 * Serves a client over standard input and output, until the input ends or the output has no reader. Requests in progress are
 * aborted then.
 */
export async function serveOverStdio(options: ServerOptions): Promise<void> {
  const { stdin, stdout } = process
  const over = new AbortController()
  const { signal } = over
  const ended = Promise.race([
    once(stdin, 'end', { signal }),
    once(stdin, 'close', { signal }),
    once(stdout, 'close', { signal }),
  ])
  const connection = serveStdio(() => createServer(options))
  await ended.catch(() => {})
  over.abort()
  await connection.close()
}
