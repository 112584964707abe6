import { command, commandIn } from './command.ts'
import { DNS_PORT, type Way } from './filter.ts'

/** The one in the anchor's namespace, which nobody else uses. */
const TABLE_THERE = 'deployer'
const QUESTION = `meta l4proto { tcp, udp } th dport ${DNS_PORT}`

/** Sets the rules on the host with nft(8): a table of its own, replaced in one transaction. */
export async function guardByNft(serverId: string, { device, hostEnd }: Way): Promise<void> {
  const rules = table(`inet ${tableOf(serverId)}`, [
    'chain forward {',
    'type filter hook forward priority -150; policy accept;',
    `iifname "${device}" drop`,
    `oifname "${device}" drop`,
    '}',
    'chain input {',
    'type filter hook input priority -150; policy accept;',
    `iifname "${device}" ct state established,related accept`,
    `iifname "${device}" ip daddr ${hostEnd} ${QUESTION} accept`,
    `iifname "${device}" drop`,
    `iifname != "lo" ip daddr ${hostEnd} drop`,
    '}',
  ])
  await command('nft', ['-f', '-'], rules)
}

export async function unguardByNft(serverId: string): Promise<void> {
  await command('nft', ['delete', 'table', 'inet', tableOf(serverId)]).catch(() => {})
}

/** Sets the rules in the anchor's namespace. */
export async function leadByNft(namespace: string, { device, hostEnd, overlays }: Way): Promise<void> {
  const subnets = overlays.map(({ subnet }) => subnet).join(', ')
  const own = overlays.map(({ nameServer }) => nameServer).join(', ')
  const rules = table(`ip ${TABLE_THERE}`, [
    'chain raw {',
    'type filter hook prerouting priority raw; policy accept;',
    // A source that is not in the overlay that the packet came from.
    'fib saddr . iif oif missing drop',
    '}',
    'chain forward {',
    'type filter hook forward priority filter; policy drop;',
    'ct state established,related accept',
    `iifname "${device}" ip saddr ${hostEnd} ip daddr { ${subnets} } ct state new accept`,
    `oifname "${device}" ct status dnat ${QUESTION} accept`,
    '}',
    'chain input {',
    'type filter hook input priority filter; policy drop;',
    'iifname "lo" accept',
    '}',
    'chain questions {',
    'type nat hook prerouting priority dstnat; policy accept;',
    `iifname != "${device}" ip daddr { ${own} } ${QUESTION} dnat to ${hostEnd}`,
    '}',
    'chain sources {',
    'type nat hook postrouting priority srcnat; policy accept;',
    `ip saddr ${hostEnd} ip daddr { ${subnets} } masquerade`,
    '}',
  ])
  await commandIn(namespace, 'nft', ['-f', '-'], rules)
}

function tableOf(serverId: string): string {
  return `deployer_${serverId}_nodes`
}

/** A table as text. It is added before it is deleted, since deleting a table that does not exist fails. */
function table(name: string, lines: readonly string[]): string {
  return [`add table ${name}`, `delete table ${name}`, `table ${name} {`, ...lines, '}\n'].join('\n')
}
