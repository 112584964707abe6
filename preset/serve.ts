import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { toNodeListener } from 'h3'
import { useNitroApp } from 'nitropack/runtime'
import { startDaemon } from '#daemon/index.ts'
import { formatAddress } from '#daemon/proxy/listeners.ts'
import { ensureSetupCode } from '#server/accounts/setup-code.ts'
import { provideContext, type Context } from '#server/context.ts'
import { openDatabase } from '#server/database/index.ts'
import { ensureBaseDomain } from '#server/domains/operations.ts'
import { ensureProduction } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { asGet } from '#server/http/head.ts'
import { writePrivateFile } from '#server/files.ts'
import { logger, setLogLevel } from '#server/log.ts'
import { readOptions, type ListenAddress } from '#server/options.ts'
import { httpListenerPort, httpsListenerPort } from '#server/public-address.ts'
import { openVault } from '#server/secrets.ts'
import { ensureServerToken } from '#server/tokens/server-token.ts'
import { serverIdOf } from '#server/server-id.ts'
import { VERSION } from '#server/version.ts'
import { openDataDirectory } from './data-directory.ts'

const log = logger('server')

/** A client that takes longer to say what it wants holds a connection for nothing. */
const HEAD_TIMEOUT_MS = 30_000
/** What a client still sends after this is not waited for when the server stops. */
const CLOSE_WITHIN_MS = 2_000

/** SIGTERM ends the server within 10 s; systemd and Docker kill at 10 s and later. */
const STOP_WITHIN_MS = 9_000

/** Runs the server until a signal ends it. Throws an AppError when it cannot start. */
export async function serve(argv: string[]): Promise<void> {
  const options = readOptions(argv)
  setLogLevel(options.logLevel)
  const lock = openDataDirectory(options.dataDirectory)
  const stopping = new AbortController()
  const database = await usable(join(options.dataDirectory, 'deployer.db'), openDatabase)
  const context: Context = {
    options,
    database,
    vault: await usable(join(options.dataDirectory, 'secret.key'), openVault),
    serverId: serverIdOf(database),
    version: VERSION,
    stopping: stopping.signal,
  }
  provideContext(context)
  ensureProduction()
  ensureBaseDomain()
  ensureServerToken(context)

  const started = Promise.withResolvers<void>()
  const server = createServer(
    // Uploads and streams take their time; a head does not.
    { requestTimeout: 0, headersTimeout: HEAD_TIMEOUT_MS },
    listener(started.promise),
  )
  const port = await listen(server, options.listen)
  const url = `http://${formatAddress({ host: options.listen.host, port })}`
  log.info(`API and dashboard at ${url}`)
  const daemon = await startDaemon({
    apiUrl: url,
    apiPort: port,
    proxyProgram: join(dirname(process.argv[1]!), 'proxy.mjs'),
  })
  started.resolve()
  const httpsPort = options.tls === 'off' ? null : httpsListenerPort()
  log.info(
    `services at port ${httpListenerPort()} (HTTP)${httpsPort === null ? '' : ` and ${httpsPort} (HTTPS)`}`,
  )
  announceSetup(context, url, port)
  // Last: who reads this file finds everything else in place.
  writePrivateFile(
    join(options.dataDirectory, 'server.json'),
    JSON.stringify({
      pid: process.pid,
      url,
      http_url: `http://${formatAddress({ ...options.httpListen, port: httpListenerPort() })}`,
      https_url:
        httpsPort === null ? null : `https://${formatAddress({ ...options.httpsListen, port: httpsPort })}`,
    }),
  )

  let ending = false
  const stop = async (code: number) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(code || 1), STOP_WITHIN_MS).unref()
    stopping.abort()
    await closeServer(server)
    await daemon.stop()
    await database.close()
    lock.release()
    process.exit(code)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
  process.on('uncaughtException', (error) => {
    log.error('a fault of the server itself; it ends', { error: String(error.stack ?? error) })
    void stop(1)
  })
}

/** Opens a file of the data directory; one that is damaged is named. */
async function usable<T>(file: string, open: (file: string) => T | Promise<T>): Promise<T> {
  try {
    return await open(file)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('io_error', `${file} cannot be used: ${messageOf(cause)}. Restore it from a backup.`, {
      cause,
    })
  }
}

/**
 * Node's listener around Nitro's app. HEAD is answered as GET, whose body node leaves out (RFC 9110 section 9.3.2). What
 * comes before the daemon has `started` waits for it, but for the probe of liveness.
 */
function listener(started: Promise<void>): (request: IncomingMessage, response: ServerResponse) => void {
  const handle = toNodeListener(useNitroApp().h3App)
  return (request, response) => {
    if (request.method === 'HEAD') asGet(request)
    if (request.url === '/healthz') handle(request, response)
    else void started.then(() => handle(request, response))
  }
}

async function listen(server: Server, address: ListenAddress): Promise<number> {
  try {
    server.listen({ host: address.host, port: address.port })
    await once(server, 'listening')
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? 'another program listens there'
        : messageOf(cause)
    throw new AppError(
      'io_error',
      `--listen ${formatAddress(address)}: ${why}; stop it or name another address`,
      { cause },
    )
  }
  return (server.address() as AddressInfo).port
}

/** Requests under way finish, but not for long; streams have ended with `stopping`. */
async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS)
  await closed
  clearTimeout(timer)
}

function announceSetup(context: Context, url: string, port: number): void {
  const code = ensureSetupCode(context)
  if (code === null) return
  process.stdout.write(`\nSet up the administrator account: ${url}/setup?code=${code}\n`)
  if (process.env.SSH_CONNECTION) {
    const [, , address] = process.env.SSH_CONNECTION.split(' ')
    process.stdout.write(
      `From your own machine, first: ssh -L ${port}:127.0.0.1:${port} ${process.env.USER ?? 'root'}@${address}\n`,
    )
  }
  process.stdout.write('\n')
}
