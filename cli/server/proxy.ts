import { dirname, join } from 'node:path'
import { findProxy } from '#daemon/proxy/find.ts'
import { keptServerId } from '#daemon/proxy/launch.ts'
import { connectOwnProxy } from '#daemon/proxy/own-proxy.ts'
import { AppError } from '#server/errors.ts'
import { VERSION } from '#server/version.ts'
import type { Call } from '../call.ts'
import { optionsOf } from './own-flags.ts'
import { unreadable } from './running.ts'

/**
 * `deployer proxy start` starts the data plane if none runs, with the last table, for the unit of a service manager.
 * `deployer proxy upgrade` replaces the running one with this program's, without a failed request. A server that starts does
 * both by itself.
 */
export async function proxy(call: Call): Promise<number> {
  const { dataDirectory, proxyWorkers } = optionsOf(call)
  const serverId = serverOf(dataDirectory)
  if (call.command.name === 'proxy upgrade') await mustRun(dataDirectory)
  if (serverId === null)
    throw new AppError('io_error', `no server has used ${dataDirectory} yet: start the server first`)
  const client = await connectOwnProxy({
    dataDirectory,
    serverId,
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

async function mustRun(dataDirectory: string): Promise<void> {
  const found = await findProxy(dataDirectory)
  found?.close()
  if (!found)
    throw new AppError('io_error', `no data plane runs on ${dataDirectory}; deployer serve starts it`)
}

function serverOf(dataDirectory: string): string | null {
  try {
    return keptServerId(dataDirectory)
  } catch (cause) {
    throw unreadable(dataDirectory, cause)
  }
}
