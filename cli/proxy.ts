import { dirname, join } from 'node:path'
import { ProxyClient } from '#daemon/proxy/client.ts'
import { findProxy } from '#daemon/proxy/find.ts'
import { openDatabase } from '#server/database/index.ts'
import { AppError } from '#server/errors.ts'
import { readOptions } from '#server/options.ts'
import { serverIdOf } from '#server/server-id.ts'
import { VERSION } from '#server/version.ts'

/**
 * `deployer proxy upgrade`: has the running data plane replaced by this program's, without a failed request. It keeps
 * the table that it has. A server that starts does the same by itself.
 */
export async function proxy(argv: string[]): Promise<number> {
  const [action, ...flags] = argv
  if (action !== 'upgrade') throw new AppError('invalid_request', 'the command is: deployer proxy upgrade')
  const { dataDirectory, proxyWorkers } = readOptions(flags)
  const found = await findProxy(dataDirectory)
  found?.close()
  if (!found) {
    throw new AppError('io_error', `no data plane runs on ${dataDirectory}; deployer serve starts it`)
  }
  const client = await ProxyClient.connect({
    dataDirectory,
    serverId: await readServerId(dataDirectory),
    version: VERSION,
    program: join(dirname(process.argv[1]!), 'proxy.mjs'),
    node: process.execPath,
    ...(proxyWorkers === null ? {} : { workers: proxyWorkers }),
    log: (message) => process.stderr.write(`${message}\n`),
  })
  client.close()
  process.stdout.write(`the data plane runs version ${VERSION}\n`)
  return 0
}

async function readServerId(dataDirectory: string): Promise<string> {
  const database = await openDatabase(join(dataDirectory, 'deployer.db'))
  try {
    return serverIdOf(database)
  } finally {
    await database.close()
  }
}
