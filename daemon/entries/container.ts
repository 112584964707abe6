import { createHash } from 'node:crypto'
import { ENTRY_FOLDER, ENTRY_FORM, PROGRAM_COMMAND } from '#agent/protocol.ts'
import { useContext } from '#server/context.ts'
import type { Overlay } from '#server/environments/overlay.ts'
import type { ContainerState, Engine } from '../engine/index.ts'

/** Engines' own network, through which they publish ports. They keep the address of a client that comes over IPv4. */
const BRIDGE = 'bridge'
/** As much as a data plane of several workers has on a host of its own; files that it serves are not counted as long as others need it. */
const MEMORY_BYTES = 1024 ** 3
/** The flags of its main program, which only waits. */
const NODE_FLAGS = ['--max-semi-space-size=1']
/** What is being answered may end within this. */
const STOP_SECONDS = 10
const SPEC_LABEL = 'deployer.spec'

/** What an entry is to be. */
export interface WantedEntry {
  /** The id of the agents' image, which the node has. */
  image: string
  /** The TCP ports that it publishes, at all IPv4 addresses of the node. */
  ports: readonly number[]
  /** The networks whose containers it leads to. */
  overlays: readonly Pick<Overlay, 'id' | 'name'>[]
}

/** The name of the entry on each node, and of its volume. */
export function entryName(): string {
  return `deployer-entry-${useContext().serverId}`
}

/**
 * Makes sure that a node's entry runs, and is in these networks and no other, which changes while it serves. One that differs
 * otherwise is created again: that ends its connections. A newer image alone is no difference, since the data plane is brought
 * to it by itself. Throws `runtime_error`, also when another program has one of the ports.
 */
export async function ensureEntry(engine: Engine, wanted: WantedEntry): Promise<void> {
  const name = entryName()
  const found = await engine.containers.inspect(name)
  if (found?.running && found.labels[SPEC_LABEL] === specOf(wanted))
    await joinExactly(engine, found, wanted.overlays)
  else await start(engine, wanted)
}

/** Removes a node's entry with all that it has: certificates and keys among it. Throws `runtime_error`. */
export async function removeEntry({ containers, volumes }: Engine): Promise<void> {
  const name = entryName()
  await containers.stop(name, STOP_SECONDS)
  await containers.remove(name)
  await volumes.remove(name)
}

/**
 * Its addresses there are the engines' choice: nobody needs to know them, and one that was fixed might be taken by another
 * engine's end of the network while the entry is away.
 */
async function joinExactly(
  { networks }: Engine,
  { id, networks: joined }: ContainerState,
  overlays: WantedEntry['overlays'],
): Promise<void> {
  for (const overlay of overlays)
    if (!joined.some((each) => each.id === overlay.id)) await networks.connect(overlay.id, id)
  const others = joined.filter((each) => !overlays.some((overlay) => overlay.id === each.id))
  // The bridge is one of them.
  if (others.length <= 1) return
  const bridge = await networks.inspect(BRIDGE)
  for (const other of others) if (other.id !== bridge?.id) await networks.disconnect(other.id, id)
}

/** It is always created again: an overlay that it was in may be gone, and without it a container does not start again. */
async function start({ containers, volumes }: Engine, wanted: WantedEntry): Promise<void> {
  const name = entryName()
  await containers.stop(name, STOP_SECONDS)
  await containers.remove(name)
  await volumes.create(name, { 'deployer.kind': 'entry' })
  await containers.create({
    name,
    image: wanted.image,
    labels: { 'deployer.kind': 'entry', [SPEC_LABEL]: specOf(wanted) },
    env: {},
    entrypoint: [PROGRAM_COMMAND[0]!, ...NODE_FLAGS, ...PROGRAM_COMMAND.slice(1)],
    command: ['entry'],
    network: BRIDGE,
    joined: wanted.overlays.map(({ name: network }) => ({ network })),
    ports: wanted.ports.map((port) => ({ inside: port, host: port, address: '0.0.0.0' })),
    volumes: [{ name, path: ENTRY_FOLDER }],
    // It is in networks that must not reach each other.
    sysctls: { 'net.ipv4.ip_forward': '0' },
    capabilities: ['NET_BIND_SERVICE'],
    isReadOnly: true,
    isKept: true,
    memoryBytes: MEMORY_BYTES,
    cpus: 0,
    stopSeconds: STOP_SECONDS,
  })
  await containers.start(name)
}

/** What cannot be changed while it serves. */
function specOf({ ports }: WantedEntry): string {
  const spec = { form: ENTRY_FORM, base: useContext().options.nodeImage, ports }
  return createHash('sha256').update(JSON.stringify(spec)).digest('hex')
}
