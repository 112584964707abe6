import { ECHO_EXITS, type Reach } from '#agent/protocol.ts'
import { probe } from '#agent/probe.ts'
import { clockGap } from '#server/clock.ts'
import { messageOf } from '#server/errors.ts'
import { randomHex } from '#server/ids.ts'
import type { NodeCheck } from '#server/nodes/schema.ts'
import type { NodeRow } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'
import type { Tunnel } from './tunnel.ts'

/** One look from a node to another. */
type PairCheck = NodeCheck['checks'][number]

/** An end of a pair. */
export interface End {
  name: string
  address: string
  /** Null for the server's own node. */
  tunnel: Tunnel | null
  engine: Engine
}

/** What the looks need of the server. */
export interface Ways {
  /** The port of agents, and of the server for them. */
  port: number
  /** The network of all nodes in which frames are sent. */
  network: string
  /** The id of the agent's image, which each node has. */
  image: string
}

/** Swarm's own ports: https://docs.docker.com/engine/swarm/swarm-tutorial/#open-protocols-and-ports-between-the-hosts */
const MANAGER_PORT = 2377
const MEMBERS_PORT = 7946
const KIND = { 'deployer.kind': 'node-probe' }
const MEMORY_BYTES = 64 * 1024 ** 2
/** Certificates, logs and times of deploys are compared across nodes. */
const MAX_CLOCK_GAP_MS = 2_000
const FRAMES_MS = 60_000
const PROGRAM = ['node', '/node-agent.mjs']

/** Looks at the network between a node and others. */
export async function checkNode(node: End, others: readonly End[], ways: Ways): Promise<NodeCheck> {
  for (const end of [node, ...others]) await removeLeftProbes(end)
  const checks = (await Promise.all(others.map((other) => checkPair(other, node, ways)))).flat()
  return { ok: checks.every(({ ok }) => ok), checks }
}

/** What is said of another node that does not answer, so that nothing passes because it was not tried. */
export function notTried({ name: from }: Pick<End, 'name'>, to: Pick<NodeRow, 'name' | 'status'>): PairCheck {
  return {
    ...{ what: 'all', from, to: to.name, ok: false },
    message: `${to.name} is ${to.status}: not tried, check again once it is ready`,
  }
}

/** Everything between a node and another one, in both directions. */
async function checkPair(left: End, right: End, ways: Ways): Promise<PairCheck[]> {
  const [forth, back, frames] = await Promise.all([
    checkPorts(left, right, ways),
    checkPorts(right, left, ways),
    checkFrames(left, right, ways),
  ])
  return [...forth, ...back, frames, ...clockChecks(left, right)]
}

async function checkPorts(from: End, to: End, { port }: Ways): Promise<PairCheck[]> {
  const ports = [...(to.tunnel ? [] : [MANAGER_PORT]), MEMBERS_PORT, port]
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
async function checkFrames(from: End, to: End, ways: Ways): Promise<PairCheck> {
  const names = { echo: `deployer-probe-${randomHex(6)}`, ask: `deployer-probe-${randomHex(6)}` }
  try {
    const address = await run(to.engine, names.echo, ['echo'], ways)
    await run(from.engine, names.ask, ['ask', address], ways)
    const { exitCode } = await from.engine.containers.wait(names.ask, AbortSignal.timeout(FRAMES_MS))
    return checked('udp 4789', from, to, frameFault(exitCode, from, to))
  } catch (error) {
    return checked(
      'udp 4789',
      from,
      to,
      `frames could not be sent from ${from.name} to ${to.name}: ${messageOf(error)}`,
    )
  } finally {
    await Promise.all([
      to.engine.containers.remove(names.echo),
      from.engine.containers.remove(names.ask),
    ]).catch(
      // The next check removes what is left.
      () => {},
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

/** Starts the agent's program in the network of all nodes, and returns its address there. */
async function run(
  { containers }: Engine,
  name: string,
  command: string[],
  { image, network }: Ways,
): Promise<string> {
  await containers.create({
    name,
    image,
    labels: KIND,
    env: {},
    entrypoint: PROGRAM,
    command,
    network,
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
  })
  await containers.start(name)
  return (await containers.inspect(name))?.address ?? ''
}

/** Removes the programs of an earlier look that a killed server left. */
async function removeLeftProbes({ engine: { containers } }: End): Promise<void> {
  for (const { name } of await containers.list(KIND)) await containers.remove(name)
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
