import { command, commandIn, type Run } from './command.ts'
import { DNS_PORT, type Way } from './filter.ts'
import { WAIT } from './iptables.ts'

const ANSWERS = '-m conntrack --ctstate ESTABLISHED,RELATED'
const QUESTIONS = ['udp', 'tcp'].map((protocol) => `-p ${protocol} --dport ${DNS_PORT}`)

/** A chain of the server's own, and the built-in one that jumps to it. */
type Chain = { table: string; hook: string; name: string; rules: string[] }

/** Sets the rules on the host with iptables(8). The engine does not touch the table `mangle`, which comes before its own. */
export async function guardByIptables(serverId: string, { device, hostEnd }: Way): Promise<void> {
  const [forward, input] = chainsOf(serverId)
  await setChains(command, [
    { ...forward, rules: [`-i ${device} -j DROP`, `-o ${device} -j DROP`] },
    {
      ...input,
      rules: [
        `-i ${device} ${ANSWERS} -j RETURN`,
        ...QUESTIONS.map((question) => `-i ${device} -d ${hostEnd} ${question} -j RETURN`),
        `-i ${device} -j DROP`,
        `! -i lo -d ${hostEnd} -j DROP`,
      ],
    },
  ])
}

export async function unguardByIptables(serverId: string): Promise<void> {
  for (const { table, hook, name } of chainsOf(serverId))
    for (const words of [
      ['-D', hook, '-j', name],
      ['-F', name],
      ['-X', name],
    ])
      await command('iptables', [...WAIT, '-t', table, ...words]).catch(() => {})
}

/** Sets the rules in the anchor's namespace, where the engine has chains too. */
export async function leadByIptables(namespace: string, { device, hostEnd, overlays }: Way): Promise<void> {
  const run: Run = (program, args, input) => commandIn(namespace, program, args, input)
  await setChains(run, [
    // A source that is not in the overlay that the packet came from.
    chain('raw', 'PREROUTING', 'raw', ['-m rpfilter --invert -j DROP']),
    chain('filter', 'INPUT', 'input', ['! -i lo -j DROP']),
    chain('filter', 'FORWARD', 'forward', [
      `${ANSWERS} -j ACCEPT`,
      ...overlays.map(
        ({ subnet }) => `-i ${device} -s ${hostEnd} -d ${subnet} -m conntrack --ctstate NEW -j ACCEPT`,
      ),
      ...QUESTIONS.map((question) => `-o ${device} ${question} -m conntrack --ctstate DNAT -j ACCEPT`),
      '-j DROP',
    ]),
    chain('nat', 'PREROUTING', 'questions', [
      ...overlays.flatMap(({ nameServer }) =>
        QUESTIONS.map(
          (question) => `! -i ${device} -d ${nameServer} ${question} -j DNAT --to-destination ${hostEnd}`,
        ),
      ),
    ]),
    chain('nat', 'POSTROUTING', 'sources', [
      ...overlays.map(({ subnet }) => `-s ${hostEnd} -d ${subnet} -j MASQUERADE`),
    ]),
  ])
}

/** The chains on the host; names have at most 28 characters. */
function chainsOf(serverId: string): [Omit<Chain, 'rules'>, Omit<Chain, 'rules'>] {
  return [
    { table: 'mangle', hook: 'FORWARD', name: `dpl-${serverId}-f` },
    { table: 'mangle', hook: 'INPUT', name: `dpl-${serverId}-i` },
  ]
}

function chain(table: string, hook: string, name: string, rules: string[]): Chain {
  return { table, hook, name: `deployer-${name}`, rules }
}

/** Replaces the chains, those of a table at once, and has the built-in ones jump to them. */
async function setChains(run: Run, chains: readonly Chain[]): Promise<void> {
  const tables = [...Map.groupBy(chains, ({ table }) => table)].flatMap(([table, its]) => [
    `*${table}`,
    // Empties the chains, or creates them.
    ...its.map(({ name }) => `:${name} - [0:0]`),
    ...its.flatMap(({ name, rules }) => rules.map((rule) => `-A ${name} ${rule}`)),
    'COMMIT',
  ])
  await run('iptables-restore', [...WAIT, '--noflush'], `${tables.join('\n')}\n`)
  for (const { table, hook, name } of chains) {
    const within = [...WAIT, '-t', table]
    const rule = [hook, '-j', name]
    await run('iptables', [...within, '-C', ...rule]).catch(() => run('iptables', [...within, '-I', ...rule]))
  }
}
