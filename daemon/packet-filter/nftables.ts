import { command } from './command.ts'
import { DNS_PORT, ofFamily, type PacketFilter } from './filter.ts'

/**
 * Uses nft(8): a table of the server's own, which no other program changes and no restart of the engine empties. It is
 * replaced in one transaction, so that there is no moment without it.
 */
export const nftables: PacketFilter = {
  program: 'nft',

  async reject(serverId, subnets, networks, run = command) {
    await run('nft', ['-f', '-'], ruleset(tableOf(serverId), subnets, networks))
  },

  async clear(serverId, run = command) {
    const table = tableOf(serverId)
    return run('nft', ['delete', 'table', 'inet', table]).then(
      () => `table inet ${table}`,
      () => null,
    )
  },
}

function tableOf(serverId: string): string {
  return `deployer_${serverId}`
}

/** The table as text. It is added before it is deleted, since deleting a table that does not exist fails. */
function ruleset(table: string, subnets: readonly string[], networks: readonly string[]): string {
  const jumps = [
    ...jumpsOf('ip', ofFamily('ipv4', subnets), ofFamily('ipv4', networks)),
    ...jumpsOf('ip6', ofFamily('ipv6', subnets), ofFamily('ipv6', networks)),
  ]
  const hooks = ['forward', 'input'].flatMap((hook) => [
    `chain ${hook} {`,
    `type filter hook ${hook} priority -10; policy accept;`,
    ...jumps,
    '}',
  ])
  return [
    `add table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    'chain refuse {',
    `tcp dport ${DNS_PORT} return`,
    `udp dport ${DNS_PORT} return`,
    // TCP gets a reset, which the kernel does not rate-limit as it does ICMP.
    'meta l4proto tcp reject with tcp reset',
    'reject with icmpx type admin-prohibited',
    '}',
    ...hooks,
    '}\n',
  ].join('\n')
}

/** Matches the original destination, also when the host redirects it; replies of a container pass. */
function jumpsOf(family: 'ip' | 'ip6', subnets: string[], networks: string[]): string[] {
  if (subnets.length === 0 || networks.length === 0) return []
  const [from, to] = [`{ ${subnets.join(', ')} }`, `{ ${networks.join(', ')} }`]
  return [
    `ct direction original ct original ${family} daddr ${to} ct original ${family} saddr ${from} jump refuse`,
  ]
}
