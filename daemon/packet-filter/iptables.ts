import { command, type Run } from './command.ts'
import { DNS_PORT, ofFamily, type PacketFilter } from './filter.ts'

const PROGRAMS = { ipv4: 'iptables', ipv6: 'ip6tables' } as const
type Family = keyof typeof PROGRAMS
const FAMILIES = Object.keys(PROGRAMS) as Family[]

/** The ICMP answers that say that access is prohibited (iptables-extensions(8), REJECT). */
const PROHIBITED = { ipv4: 'icmp-admin-prohibited', ipv6: 'icmp6-adm-prohibited' }

/** Docker leaves this chain to users and puts it before its own rules whenever it starts. */
const USER_CHAIN = 'DOCKER-USER'
const HOOKS = [USER_CHAIN, 'FORWARD', 'INPUT']
/** Where everything that leaves the host passes at last. */
const LEAVING = 'POSTROUTING'
/** Waits for the lock: the engine sets rules too, and only one program can at a time. */
export const WAIT = ['-w', '5']

/** Uses iptables(8), which Docker itself needs: chains of the server's own, and jumps to them. */
export const iptables: PacketFilter = {
  program: 'iptables',

  async reject(serverId, subnets, networks, run = command) {
    for (const family of FAMILIES) {
      const [from, to] = [ofFamily(family, subnets), ofFamily(family, networks)]
      // A host without IPv6 may lack ip6tables.
      if (family === 'ipv6' && from.length === 0) await clearFamily(run, family, serverId)
      else await rejectFamily(run, family, serverId, from, to)
    }
  },

  async clear(serverId, run = command) {
    const cleared = await Promise.all(FAMILIES.map((family) => clearFamily(run, family, serverId)))
    return cleared.includes(true) ? `chain ${chainsOf(serverId).jumps}` : null
  },
}

/** The names of the chains; at most 28 characters each. */
function chainsOf(serverId: string): { jumps: string; refuse: string } {
  return { jumps: `dpl-${serverId}`, refuse: `dpl-${serverId}-r` }
}

async function rejectFamily(
  run: Run,
  family: Family,
  serverId: string,
  from: string[],
  to: string[],
): Promise<void> {
  const { jumps, refuse } = chainsOf(serverId)
  const program = PROGRAMS[family]
  const lines = [
    '*filter',
    // Empties the chains, or creates them.
    `:${jumps} - [0:0]`,
    `:${refuse} - [0:0]`,
    // Matches the original destination, also when the host redirects it; replies of a container pass.
    ...to.map((network) => `-A ${jumps} -m conntrack --ctdir ORIGINAL --ctorigdst ${network} -j ${refuse}`),
    ...['tcp', 'udp'].map((protocol) => `-A ${refuse} -p ${protocol} --dport ${DNS_PORT} -j RETURN`),
    // TCP gets a reset, which the kernel does not rate-limit as it does ICMP.
    ...from.flatMap((subnet) => [
      `-A ${refuse} -s ${subnet} -p tcp -j REJECT --reject-with tcp-reset`,
      `-A ${refuse} -s ${subnet} -j REJECT --reject-with ${PROHIBITED[family]}`,
    ]),
    'COMMIT\n',
  ]
  await run(`${program}-restore`, [...WAIT, '--noflush'], lines.join('\n'))
  await jumpFrom(run, program, USER_CHAIN, jumps).catch(() => jumpFrom(run, program, 'FORWARD', jumps))
  await jumpFrom(run, program, 'INPUT', jumps)
  // Without this table there is the moment that it is for, and nothing else is missing.
  await dropForwarded(run, family, jumps, from, to).catch(() => {})
}

/**
 * Drops what leaves the host all the same. Whenever the engine creates a network it takes its jump to the users' chain out
 * and puts it back, so for a moment nothing is rejected. A client that got no answer tries again, and is then refused.
 */
async function dropForwarded(
  run: Run,
  family: Family,
  chain: string,
  from: string[],
  to: string[],
): Promise<void> {
  const program = PROGRAMS[family]
  const lines = [
    '*mangle',
    `:${chain} - [0:0]`,
    ...['tcp', 'udp'].map((protocol) => `-A ${chain} -p ${protocol} --dport ${DNS_PORT} -j RETURN`),
    ...from.flatMap((subnet) =>
      to.map(
        (network) => `-A ${chain} -s ${subnet} -m conntrack --ctdir ORIGINAL --ctorigdst ${network} -j DROP`,
      ),
    ),
    'COMMIT\n',
  ]
  await run(`${program}-restore`, [...WAIT, '--noflush'], lines.join('\n'))
  await jumpFrom(run, program, LEAVING, chain, 'mangle')
}

async function jumpFrom(
  run: Run,
  program: string,
  hook: string,
  chain: string,
  table = 'filter',
): Promise<void> {
  const rule = [hook, '-j', chain]
  const within = [...WAIT, '-t', table]
  await run(program, [...within, '-C', ...rule]).catch(() => run(program, [...within, '-I', ...rule]))
}

/** Returns whether there was something to remove. */
async function clearFamily(run: Run, family: Family, serverId: string): Promise<boolean> {
  const { jumps, refuse } = chainsOf(serverId)
  const program = PROGRAMS[family]
  const isThere = await run(program, [...WAIT, '-S', jumps]).then(
    () => true,
    () => false,
  )
  if (!isThere) return false
  for (const hook of HOOKS) await run(program, [...WAIT, '-D', hook, '-j', jumps]).catch(() => {})
  for (const action of ['-F', '-X'])
    for (const chain of [jumps, refuse]) await run(program, [...WAIT, action, chain])
  for (const rest of [
    ['-D', LEAVING, '-j', jumps],
    ['-F', jumps],
    ['-X', jumps],
  ])
    await run(program, [...WAIT, '-t', 'mangle', ...rest]).catch(() => {})
  return true
}
