import { ECHO_EXITS, type Reach } from '#agent/protocol.ts'
import { probe } from '#agent/probe.ts'
import { clockGap } from '#server/clock.ts'
import { messageOf } from '#server/errors.ts'
import type { NodeCheck } from '#server/nodes/schema.ts'
import type { NodeRow } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'
import { Frames, type Meeting } from './frames.ts'
import type { Tunnel } from './tunnel.ts'

/** One look from a node to another. */
type PairCheck = NodeCheck['checks'][number]

/** An end of a pair. */
export interface End {
  name: string
  address: string
  /** Null for the server's own node. */
  tunnel: Tunnel | null
  /** Whether it is a manager, which the others have to reach as such. */
  isManager: boolean
  engine: Engine
}

/** What the looks need of the server. */
export interface Ways extends Meeting {
  /** The port of agents, and of the server for them. */
  port: number
}

/** Swarm's own ports: https://docs.docker.com/engine/swarm/swarm-tutorial/#open-protocols-and-ports-between-the-hosts */
const MANAGER_PORT = 2377
const MEMBERS_PORT = 7946
/** Certificates, logs and times of deploys are compared across nodes. */
const MAX_CLOCK_GAP_MS = 2_000

/** Looks at the network between a node and others. */
export async function checkNode(node: End, others: readonly End[], ways: Ways): Promise<NodeCheck> {
  if (others.length === 0) return { ok: true, checks: [] }
  const frames = new Frames([node, ...others], ways)
  try {
    const checks = (await Promise.all(others.map((other) => checkPair(other, node, ways, frames)))).flat()
    return { ok: checks.every(({ ok }) => ok), checks }
  } finally {
    await frames.close()
  }
}

/** What is said of another node that does not answer, so that nothing passes because it was not tried. */
export function notTried({ name: from }: Pick<End, 'name'>, to: Pick<NodeRow, 'name' | 'status'>): PairCheck {
  return {
    ...{ what: 'all', from, to: to.name, ok: false },
    message: `${to.name} is ${to.status}: not tried, check again once it is ready`,
  }
}

/** Everything between a node and another one, in both directions. */
async function checkPair(left: End, right: End, ways: Ways, frames: Frames<End>): Promise<PairCheck[]> {
  const [forth, back, sent] = await Promise.all([
    checkPorts(left, right, ways),
    checkPorts(right, left, ways),
    checkFrames(left, right, frames),
  ])
  return [...forth, ...back, sent, ...clockChecks(left, right)]
}

async function checkPorts(from: End, to: End, { port }: Ways): Promise<PairCheck[]> {
  const ports = [...(to.isManager ? [MANAGER_PORT] : []), MEMBERS_PORT, port]
  const targets = ports.map((each) => ({ host: to.address, port: each }))
  const found = await (from.tunnel ? from.tunnel.probe({ targets }) : probe({ targets })).catch(
    (error: unknown) => messageOf(error),
  )
  return ports.map((each, index) => {
    const what = `tcp ${each}`
    if (typeof found === 'string') return checked(what, from, to, `${from.name} could not try it: ${found}`)
    return checked(what, from, to, portFault(found[index]!, each, from, to))
  })
}

/** What is wrong with a port; null when it is open. */
export function portFault(
  reach: Reach,
  port: number,
  from: Pick<End, 'name'>,
  to: Pick<End, 'name'>,
): string | null {
  if (reach === 'open') return null
  return reach === 'refused'
    ? `nothing listens at TCP ${port} of ${to.name}, or a firewall refuses ${from.name}: open it between the two machines`
    : `${to.name} does not answer ${from.name} at TCP ${port}: open it between the two machines`
}

/** Sends frames through the network of all nodes. Their way back is a part of it. */
async function checkFrames(from: End, to: End, frames: Frames<End>): Promise<PairCheck> {
  try {
    return checked('udp 4789', from, to, frameFault(await frames.send(from, to), from, to))
  } catch (error) {
    return checked(
      'udp 4789',
      from,
      to,
      `frames could not be sent from ${from.name} to ${to.name}: ${messageOf(error)}`,
    )
  }
}

/** What the exit of the program that sends frames means; null for nothing wrong. */
export function frameFault(
  exitCode: number,
  { name: from }: Pick<End, 'name'>,
  { name: to }: Pick<End, 'name'>,
): string | null {
  switch (exitCode) {
    case ECHO_EXITS.fine:
      return null
    case ECHO_EXITS.silent:
      return `no packet gets from ${from} to ${to} and back through their network: open UDP 4789 and UDP 7946 between the two machines`
    case ECHO_EXITS.fullFramesLost:
      return `small packets get from ${from} to ${to}, full frames do not: let the network between them carry packets of 1500 bytes, or turn off the checksum offload of VXLAN on both machines (ethtool -K <interface> tx-udp_tnl-csum-segmentation off tx-udp_tnl-segmentation off)`
    default:
      return `the program that sends frames from ${from} to ${to} ended with ${exitCode}`
  }
}

function clockChecks(left: End, right: End): PairCheck[] {
  const [leftGap, rightGap] = [gapOf(left), gapOf(right)]
  return [checked('clock', left, right, clockFault(leftGap - rightGap, left, right))]
}

/** By how much the clock of a node is ahead of the server's, as far as its answer shows. */
function gapOf({ tunnel }: End): number {
  const figures = tunnel?.figures
  return figures ? clockGap(figures.now, figures.askedAt, figures.answeredAt) : 0
}

export function clockFault(
  gapMs: number,
  { name: left }: Pick<End, 'name'>,
  { name: right }: Pick<End, 'name'>,
): string | null {
  if (Math.abs(gapMs) <= MAX_CLOCK_GAP_MS) return null
  const seconds = Math.round(Math.abs(gapMs) / 1_000)
  return `the clock of ${left} is ${seconds} s ${gapMs > 0 ? 'ahead of' : 'behind'} that of ${right}: run a time service (chrony or systemd-timesyncd) on both`
}

function checked(what: string, { name: from }: End, { name: to }: End, fault: string | null): PairCheck {
  return { what, from, to, ok: fault === null, message: fault ?? `${what} is fine between ${from} and ${to}` }
}
