import { fileURLToPath } from 'node:url'
import { ForksPoolWorker, type PoolOptions, type PoolRunnerInitializer } from 'vitest/node'

const IN_OWN_NETWORK = fileURLToPath(new URL('in-own-network', import.meta.url))

/**
 * Runs each test file in its own network namespace (network_namespaces(7)), which only has a loopback interface: so tests can
 * use ports 80 and 443, where authorities look, even if something on this machine listens there.
 */
export const ownNetwork: PoolRunnerInitializer = {
  name: 'forks-in-own-network',
  createPoolWorker: (options: PoolOptions) => new OwnNetworkWorker(options),
}

class OwnNetworkWorker extends ForksPoolWorker {
  override readonly name = ownNetwork.name

  override async start(): Promise<void> {
    // A fork runs the program of this process, and vitest does not let another be named. It is forked before the first wait.
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
