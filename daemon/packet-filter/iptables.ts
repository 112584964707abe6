import { command } from './command.ts'
import { DNS_PORT, ofFamily, type PacketFilter } from './filter.ts'

const PROGRAMS = { ipv4: 'iptables', ipv6: 'ip6tables' } as const
type Family = keyof typeof PROGRAMS
const FAMILIES = Object.keys(PROGRAMS) as Family[]

/** How to say that something is not to be reached (iptables-extensions(8), REJECT). */
const PROHIBITED = { ipv4: 'icmp-admin-prohibited', ipv6: 'icmp6-adm-prohibited' }

/** Docker leaves this chain to others, and puts it before its own rules at each of its starts. */
const USER_CHAIN = 'DOCKER-USER'
const HOOKS = [USER_CHAIN, 'FORWARD', 'INPUT']
/** The engine sets rules too, one program at a time. */
const WAIT = ['-w', '5']

/** iptables(8), which Docker itself needs: chains of the server's own, and a jump to them. */
export const iptables: PacketFilter = {
  program: 'iptables',

  async reject(serverId, subnets, networks) {
    for (const family of FAMILIES) {
      const [from, to] = [ofFamily(family, subnets), ofFamily(family, networks)]
      // A host without IPv6 may lack the program for it.
      if (family === 'ipv6' && from.length === 0) await clearFamily(family, serverId)
      else await rejectFamily(family, serverId, from, to)
    }
  },

  async clear(serverId) {
    const cleared = await Promise.all(FAMILIES.map((family) => clearFamily(family, serverId)))
    return cleared.includes(true) ? `chain ${chainsOf(serverId).jumps}` : null
  },
}

/** A chain's name has 28 characters at most. */
function chainsOf(serverId: string): { jumps: string; refuse: string } {
  return { jumps: `dpl-${serverId}`, refuse: `dpl-${serverId}-r` }
}

async function rejectFamily(family: Family, serverId: string, from: string[], to: string[]): Promise<void> {
  const { jumps, refuse } = chainsOf(serverId)
  const program = PROGRAMS[family]
  const lines = [
    '*filter',
    // Emptied, or made where they are not there yet.
    `:${jumps} - [0:0]`,
    `:${refuse} - [0:0]`,
    // By where a container wanted to go, also where the host leads that elsewhere; its answers to others pass.
    ...to.map((network) => `-A ${jumps} -m conntrack --ctdir ORIGINAL --ctorigdst ${network} -j ${refuse}`),
    ...['tcp', 'udp'].map((protocol) => `-A ${refuse} -p ${protocol} --dport ${DNS_PORT} -j RETURN`),
    // A reset is not held back when there are many, as the kernel does with ICMP.
    ...from.flatMap((subnet) => [
      `-A ${refuse} -s ${subnet} -p tcp -j REJECT --reject-with tcp-reset`,
      `-A ${refuse} -s ${subnet} -j REJECT --reject-with ${PROHIBITED[family]}`,
    ]),
    'COMMIT\n',
  ]
  await command(`${program}-restore`, [...WAIT, '--noflush'], lines.join('\n'))
  await jumpFrom(program, USER_CHAIN, jumps).catch(() => jumpFrom(program, 'FORWARD', jumps))
  await jumpFrom(program, 'INPUT', jumps)
}

async function jumpFrom(program: string, hook: string, chain: string): Promise<void> {
  const rule = [hook, '-j', chain]
  await command(program, [...WAIT, '-C', ...rule]).catch(() => command(program, [...WAIT, '-I', ...rule]))
}

/** Answers whether there was something to remove. */
async function clearFamily(family: Family, serverId: string): Promise<boolean> {
  const { jumps, refuse } = chainsOf(serverId)
  const program = PROGRAMS[family]
  const isThere = await command(program, [...WAIT, '-S', jumps]).then(
    () => true,
    () => false,
  )
  if (!isThere) return false
  for (const hook of HOOKS) await command(program, [...WAIT, '-D', hook, '-j', jumps]).catch(() => {})
  for (const action of ['-F', '-X'])
    for (const chain of [jumps, refuse]) await command(program, [...WAIT, action, chain])
  return true
}
