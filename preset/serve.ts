import '#nitro-internal-pollyfills'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { toNodeListener } from 'h3'
import { useNitroApp } from 'nitropack/runtime'
import { startDaemon } from '#daemon/index.ts'
import { formatAddress } from '#daemon/proxy/listeners.ts'
import { ensureSetupCode } from '#server/accounts/setup-code.ts'
import { recordChanges } from '#server/audit/recording.ts'
import { provideContext, type Context } from '#server/context.ts'
import { openDatabase } from '#server/database/index.ts'
import { ensureBaseDomain } from '#server/domains/operations.ts'
import { ensureProduction } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { writePrivateFile } from '#server/files.ts'
import { provideReaders } from '#server/http/readers.ts'
import { answerOwnRequests } from '#server/http/own-requests.ts'
import { logger, setUpLog } from '#server/log.ts'
import { ensureOwnNode } from '#server/nodes/own.ts'
import { exposedSecrets } from '#server/options/flags.ts'
import { readOptions, secretsOf, type Options } from '#server/options/index.ts'
import { recordOrderlyStop } from '#server/work/orderly-stop.ts'
import { httpListenerPort, httpsListenerPort } from '#server/network/public-address.ts'
import { hide } from '#server/text/redaction.ts'
import { openVault } from '#server/secrets.ts'
import { ensureServerToken } from '#server/tokens/server-token.ts'
import { serverIdOf } from '#server/server-id.ts'
import { VERSION } from '#server/version.ts'
import { settleUpgrade } from '#server/upgrade/record.ts'
import { beginTrial } from '#server/upgrade/trial.ts'
import { openDataDirectory } from './data-directory.ts'
import { closeServer, createHttpServer, listen } from './http-server.ts'

const log = logger('server')

/** SIGTERM stops the server within 10 s; systemd and Docker kill after 10 s or more. */
const STOP_WITHIN_MS = 9_000

/** Runs the server until a signal ends it. Throws an AppError when it cannot start. */
export async function serve(argv: string[]): Promise<void> {
  // V8 would let the space for young objects grow to 32 MiB and keep it; 1 MiB is enough for a server that mostly waits.
  setFlagsFromString('--semi-space-growth-factor=1')
  const options = readOptions(argv)
  setUpLog(options.logLevel, options.logFormat)
  for (const secret of secretsOf(options)) hide(secret)
  for (const warning of exposedSecrets(argv)) log.warn(warning)
  const lock = openDataDirectory(options.dataDirectory)
  const upgrade = await settleUpgrade(options.dataDirectory, VERSION)
  if (upgrade) beginTrial(upgrade)
  const stopping = new AbortController()
  const context = await openContext(options, stopping.signal)
  provideContext(context)
  recordChanges(context.database)
  provideReaders(async () => (await import('#readers')).readers)
  ensureProduction()
  ensureOwnNode()
  ensureBaseDomain()
  ensureServerToken(context)

  const started = Promise.withResolvers<void>()
  const handle = toNodeListener(useNitroApp().h3App)
  const server = createHttpServer(options, handle, started.promise)
  answerOwnRequests(server)
  const port = await listen(server, options.listen)
  const url = `http://${formatAddress({ host: options.listen.host, port })}`
  log.info(`API and dashboard at ${url}`)
  const daemon = await startDaemon({ apiUrl: url, apiPort: port, ...programs() })
  started.resolve()
  logServicePorts(options)
  announceSetup(context, url, port)
  // Last, so that everything is ready for whoever reads this file.
  writeAddresses(options, url)
  stopOnSignal(async () => {
    stopping.abort()
    await closeServer(server)
    await daemon.stop()
    await context.database.close()
    lock.release()
  })
}

/** Opens what belongs to the data directory. */
async function openContext(options: Options, stopping: AbortSignal): Promise<Context> {
  const database = await usable(join(options.dataDirectory, 'deployer.db'), openDatabase)
  return {
    options,
    database,
    vault: await usable(join(options.dataDirectory, 'secret.key'), openVault),
    serverId: serverIdOf(database),
    version: VERSION,
    stopping,
  }
}

/** Opens a file of the data directory. The error for a damaged one names the file. */
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

/** The other programs of the server, which are next to this one. */
function programs() {
  const folder = dirname(process.argv[1]!)
  return {
    proxyProgram: join(folder, 'proxy.mjs'),
    readerProgram: join(folder, 'source-reader.mjs'),
    gitProgram: join(folder, 'git-runner.mjs'),
    searchProgram: join(folder, 'log-search.mjs'),
    blueprintProgram: join(folder, 'blueprint-reader.mjs'),
    packingProgram: join(folder, 'backup-packer.mjs'),
    agentProgram: join(folder, 'node-agent.mjs'),
  }
}

function logServicePorts(options: Options): void {
  const httpsPort = httpsPortOf(options)
  log.info(
    `services at port ${httpListenerPort()} (HTTP)${httpsPort === null ? '' : ` and ${httpsPort} (HTTPS)`}`,
  )
}

/** Writes where the server listens into the data directory, for the command line. */
function writeAddresses(options: Options, url: string): void {
  const { dataDirectory, httpListen, httpsListen } = options
  const httpsPort = httpsPortOf(options)
  writePrivateFile(
    join(dataDirectory, 'server.json'),
    JSON.stringify({
      pid: process.pid,
      url,
      http_url: `http://${formatAddress({ ...httpListen, port: httpListenerPort() })}`,
      https_url: httpsPort === null ? null : `https://${formatAddress({ ...httpsListen, port: httpsPort })}`,
    }),
  )
}

function httpsPortOf({ tls }: Options): number | null {
  return tls === 'off' ? null : httpsListenerPort()
}

/** Ends the process after `close` when a signal asks for it, or after an internal error. */
function stopOnSignal(close: () => Promise<void>): void {
  let ending = false
  const stop = async (code: number) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(code || 1), STOP_WITHIN_MS).unref()
    // A stop because of an internal error counts as a crash, however tidy it is.
    if (code === 0) recordOrderlyStop()
    await close()
    process.exit(code)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
  process.on('uncaughtException', (error) => {
    log.error('internal error: the server stops', { error: String(error.stack ?? error) })
    void stop(1)
  })
}

function announceSetup(context: Context, url: string, port: number): void {
  const code = ensureSetupCode(context)
  if (code === null) return
  process.stdout.write(`\nSet up the administrator account: ${url}/setup?code=${code}\n`)
  if (process.env.SSH_CONNECTION) {
    const [, , address] = process.env.SSH_CONNECTION.split(' ')
    process.stdout.write(
      `First, on your own machine: ssh -L ${port}:127.0.0.1:${port} ${process.env.USER ?? 'root'}@${address}\n`,
    )
  }
  process.stdout.write('\n')
}
