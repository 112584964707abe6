import { listEnvironments } from '#server/environments/store.ts'
import { addressAt } from '#server/instances/addresses.ts'
import { isAnswering, probedResolver } from '../../environments/resolver.ts'
import { listed, passed, skipped, warning, type Check } from '../check.ts'

/** The data plane is on this host; a question is repeated once. */
const ASK_MS = 500

const NOT_YET = 'the engine has not answered since the server started'

export const containerAddresses: Check = {
  id: 'container_addresses',
  title: 'Addresses of containers',
  needs: 'server',
  fix: 'Look at the engine first.',
  look({ world }) {
    const reached = world!.reachByAddress
    if (reached === null) return skipped(NOT_YET)
    return reached
      ? passed('containers are reached by their own addresses')
      : warning(
          'containers cannot be reached by address: instances are published on loopback ports, and health checks are less exact',
          'Use an engine that runs as root on this host, not a rootless one or one in a virtual machine.',
        )
  },
}

export const resolver: Check = {
  id: 'resolver',
  title: 'Resolver',
  needs: 'server',
  fix: 'Look at the data plane first.',
  async look({ world }) {
    if (world!.reachByAddress === null) return skipped(NOT_YET)
    if (!world!.reachByAddress)
      return skipped("names are the engine's own, because containers are not reached by address")
    const environments = listEnvironments().filter(({ subnet }) => subnet !== null)
    if (environments.length === 0) return skipped('there is no private network yet')
    const states = await Promise.all(
      environments.map(async ({ id, name, subnet }) => {
        const gateway = addressAt(subnet!, 1)
        const probed = await probedResolver(id)
        return { name, gateway, probed, answers: probed ?? (await isAnswering(gateway, ASK_MS)) }
      }),
    )
    const silent = states.filter(({ answers }) => !answers)
    if (silent.length === 0)
      return passed(
        `names are answered in ${states.length === 1 ? 'the private network' : `all ${states.length} private networks`}`,
      )
    const where = listed(silent.map(({ name, gateway }) => `${name} (${gateway})`))
    const means = "so the engine's names are used, which may lead to instances that are stopping"
    return silent.every(({ probed }) => probed === false)
      ? warning(
          `containers get no answer from the resolver in ${where}, ${means}`,
          'Let the firewall of this host accept UDP and TCP port 53 from 10.208.0.0/12, then restart the server.',
        )
      : warning(
          `the data plane does not answer DNS in ${where}, ${means}`,
          "See what listens on port 53 (ss -lnp 'sport = :53'), have it leave these addresses out, then restart the server.",
        )
  },
}

export const metadataAddresses: Check = {
  id: 'metadata_addresses',
  title: 'Metadata addresses',
  needs: 'server',
  fix: 'Look at the engine first.',
  look({ world, options }) {
    if (options.allowMetadata) return skipped('containers may reach metadata addresses (--allow-metadata)')
    if (world!.reachByAddress === null) return skipped(NOT_YET)
    const fault = world!.metadataFault
    return fault === null
      ? passed('containers cannot reach metadata addresses; builds can')
      : warning(
          `containers can reach link-local and metadata addresses, where clouds hand out credentials: ${fault}`,
          'Run the server as root with nft or iptables installed, or have the host reject what its containers send to 169.254.0.0/16.',
        )
  },
}
