import { useContext } from '#server/context.ts'
import { HOST_END, type Overlay } from '#server/environments/overlay.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { command, commandIn } from '../packet-filter/command.ts'
import type { Way } from '../packet-filter/filter.ts'
import { filterWay, unfilterWay } from '../packet-filter/way.ts'

/** The cable between the host and the anchor: its ends have the same name. */
const DEVICE = 'deployer0'
/** Next to the host's end, in the same link-local network. */
const ANCHOR_END = '169.254.77.2'
const LINK_PREFIX = 30
/** That of an overlay on a usual Ethernet: its packets are wrapped in others. */
const MTU = 1_450
/** Takes commands from its input. */
const BATCH = ['-batch', '-']
const FORWARDING = '/proc/sys/net/ipv4/ip_forward'

/** What to do about faults; packages as most distributions name them. The first match wins. */
const ADVICE: [RegExp, string][] = [
  [/^ip is not installed/, 'install iproute2'],
  [/nsenter is not installed/, 'install util-linux'],
  [/(nft|iptables\S*) is not installed/, 'install nftables or iptables'],
  [/not permitted|permission denied/i, 'allow it the capabilities NET_ADMIN and SYS_ADMIN'],
]

/**
 * Leads the host's packets into the overlays through the anchor's network namespace, and nothing else; only what differs is
 * changed. All of it is gone with that namespace. Throws `runtime_error` that says what to install or to allow.
 */
export async function openWay(namespace: string, overlays: readonly Overlay[]): Promise<void> {
  try {
    if (process.getuid?.() !== 0) throw new Error('the server does not run as root')
    const way: Way = { device: DEVICE, hostEnd: HOST_END, overlays }
    // Before there is anything that they apply to.
    await filterWay(useContext().serverId, namespace, way)
    await connectEnds(namespace)
    await setRoutes(overlays.map(({ subnet }) => subnet))
  } catch (error) {
    const reason = messageOf(error)
    const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1]
    const what = advice === undefined ? reason : `${reason}: ${advice}`
    throw new AppError('runtime_error', `the host does not reach the containers of other nodes: ${what}`, {
      cause: error,
    })
  }
}

/** Removes the cable, the routes through it and the rules. */
export async function closeWay(): Promise<void> {
  await command('ip', ['link', 'delete', DEVICE]).catch(() => {})
  await unfilterWay(useContext().serverId)
}

/** Puts the cable in place, unless it is. */
async function connectEnds(namespace: string): Promise<void> {
  const [here, there] = await Promise.all([endIn(null), endIn(namespace)])
  if (here && there && isConnected(here, there)) return
  // An end that is left leads into the namespace of a former anchor, or was changed. The other one goes with it.
  if (here) await command('ip', ['link', 'delete', DEVICE])
  if (there) await commandIn(namespace, 'ip', ['link', 'delete', DEVICE]).catch(() => {})
  const end = `${DEVICE} mtu ${MTU}`
  await command(
    'ip',
    BATCH,
    [`link add ${end} type veth peer name ${end} netns ${namespace}`, ...setUp(HOST_END)].join('\n'),
  )
  await commandIn(namespace, 'ip', BATCH, setUp(ANCHOR_END).join('\n'))
  await commandIn(namespace, 'tee', [FORWARDING], '1')
}

function setUp(address: string): string[] {
  return [`address add ${address}/${LINK_PREFIX} dev ${DEVICE}`, `link set ${DEVICE} up\n`]
}

/** An end of the cable, as ip(8) describes it. */
interface End {
  ifname: string
  ifindex: number
  /** That of the other end. */
  link_index?: number
  flags: string[]
  addr_info: { local?: string }[]
}

function isConnected(here: End, there: End): boolean {
  const isUp = ({ flags, addr_info }: End, address: string): boolean =>
    flags.includes('UP') && addr_info.some(({ local }) => local === address)
  const isPair = here.link_index === there.ifindex && there.link_index === here.ifindex
  return isPair && isUp(here, HOST_END) && isUp(there, ANCHOR_END)
}

/** The end on the host or in a namespace; null if there is none. */
async function endIn(namespace: string | null): Promise<End | null> {
  const args = ['-json', 'address', 'show']
  const output = await (namespace === null ? command('ip', args) : commandIn(namespace, 'ip', args))
  return (JSON.parse(output) as End[]).find(({ ifname }) => ifname === DEVICE) ?? null
}

async function setRoutes(subnets: readonly string[]): Promise<void> {
  const output = await command('ip', ['-4', '-json', 'route', 'show', 'dev', DEVICE])
  const routes = (JSON.parse(output || '[]') as { dst: string; gateway?: string }[])
    .filter(({ gateway }) => gateway === ANCHOR_END)
    .map(({ dst }) => dst)
  const changes = [
    ...subnets
      .filter((subnet) => !routes.includes(subnet))
      .map((subnet) => `route replace ${subnet} via ${ANCHOR_END} dev ${DEVICE} src ${HOST_END}\n`),
    ...routes.filter((dst) => !subnets.includes(dst)).map((dst) => `route delete ${dst} dev ${DEVICE}\n`),
  ]
  if (changes.length > 0) await command('ip', BATCH, changes.join(''))
}
