import { fileURLToPath } from 'node:url'
import { ForksPoolWorker, type PoolOptions, type PoolRunnerInitializer } from 'vitest/node'

const IN_OWN_NETWORK = fileURLToPath(new URL('in-own-network', import.meta.url))

/**
 * Runs each file of tests in a network of its own (network_namespaces(7)), which has nothing but a loopback: what is proved
 * at the ports 80 and 443, where authorities look, is so too while somebody on this machine listens there.
 */
export const ownNetwork: PoolRunnerInitializer = {
  name: 'forks-in-own-network',
  createPoolWorker: (options: PoolOptions) => new OwnNetworkWorker(options),
}

class OwnNetworkWorker extends ForksPoolWorker {
  override readonly name = ownNetwork.name

  override async start(): Promise<void> {
    // A fork is of the program that this process runs, and vitest lets nobody name another. It is forked before the first wait.
    const { execPath } = process
    this.env = { ...this.env, NODE_OF_TESTS: execPath }
    process.execPath = IN_OWN_NETWORK
    try {
      const started = super.start()
      process.execPath = execPath
      await started
    } finally {
      process.execPath = execPath
    }
  }
}
