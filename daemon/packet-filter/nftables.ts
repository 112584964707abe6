import { command } from './command.ts'
import { DNS_PORT, ofFamily, type PacketFilter } from './filter.ts'

/**
 * nft(8): a table of the server's own, which no other program looks into and no restart of the engine empties. It is
 * replaced in one transaction, so that there is no moment without it.
 */
export const nftables: PacketFilter = {
  program: 'nft',

  async reject(serverId, subnets, networks) {
    await command('nft', ['-f', '-'], ruleset(tableOf(serverId), subnets, networks))
  },

  async clear(serverId) {
    const table = tableOf(serverId)
    return command('nft', ['delete', 'table', 'inet', table]).then(
      () => `table inet ${table}`,
      () => null,
    )
  },
}

function tableOf(serverId: string): string {
  return `deployer_${serverId}`
}

/** The table as text; a table is there before it is deleted, as deleting one that is not would fail. */
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
    // An answer that the kernel does not hold back when there are many, as it does those of ICMP.
    'meta l4proto tcp reject with tcp reset',
    'reject with icmpx type admin-prohibited',
    '}',
    ...hooks,
    '}\n',
  ].join('\n')
}

/** By where a container wanted to go, also where the host leads that elsewhere; its answers to others pass. */
function jumpsOf(family: 'ip' | 'ip6', subnets: string[], networks: string[]): string[] {
  if (subnets.length === 0 || networks.length === 0) return []
  const [from, to] = [`{ ${subnets.join(', ')} }`, `{ ${networks.join(', ')} }`]
  return [
    `ct direction original ct original ${family} daddr ${to} ct original ${family} saddr ${from} jump refuse`,
  ]
}
