import { useContext } from '#server/context.ts'
import type { Overlay } from '#server/environments/overlay.ts'
import { AppError } from '#server/errors.ts'
import type { ContainerState, Engine } from '../engine/index.ts'

const MEMORY_BYTES = 16 * 1024 ** 2
const CPUS = 0.1
/** It has nothing to finish. */
const STOP_SECONDS = 1

/**
 * Makes sure that the anchor runs and is in these overlays and no other: a container whose network namespace leads from the
 * host into each of them. `imageOf` gives any image of the own engine that has `sleep`. Returns the file of that namespace.
 * Throws `runtime_error`.
 */
export async function ensureAnchor(
  engine: Engine,
  imageOf: () => Promise<string>,
  overlays: readonly [Overlay, ...Overlay[]],
): Promise<string> {
  const name = anchorName()
  const found = await engine.containers.inspect(name)
  if (found?.running) await joinExactly(engine, found, overlays)
  else await startAnchor(engine, await imageOf(), overlays)
  const namespace = await engine.containers.networkNamespace(name)
  if (namespace !== null) return namespace
  throw new AppError(
    'runtime_error',
    `the network of the container ${name} cannot be entered: a server with several nodes must run on the engine's host itself, not in a container or beside a virtual machine`,
  )
}

/** Removes the anchor, if there is one. */
export async function removeAnchor(engine: Engine): Promise<void> {
  await engine.containers.remove(anchorName())
}

async function joinExactly(
  { networks }: Engine,
  { id, networks: joined }: ContainerState,
  overlays: readonly Overlay[],
): Promise<void> {
  for (const overlay of overlays) {
    if (!joined.some((each) => each.id === overlay.id))
      await networks.connect(overlay.id, id, overlay.nameServer)
  }
  for (const each of joined) {
    if (!overlays.some((overlay) => overlay.id === each.id)) await networks.disconnect(each.id, id)
  }
}

/** It is always created again: an overlay that it was in may be gone, and without it a container does not start again. */
async function startAnchor(
  { containers }: Engine,
  image: string,
  [first, ...others]: readonly [Overlay, ...Overlay[]],
): Promise<void> {
  const joins = ({ name, nameServer }: Overlay) => ({ network: name, address: nameServer })
  const name = anchorName()
  await containers.remove(name)
  await containers.create({
    name,
    image,
    labels: { 'deployer.kind': 'anchor' },
    env: {},
    entrypoint: ['sleep'],
    command: ['infinity'],
    ...joins(first),
    joined: others.map(joins),
    capabilities: [],
    memoryBytes: MEMORY_BYTES,
    cpus: CPUS,
    stopSeconds: STOP_SECONDS,
  })
  await containers.start(name)
}

function anchorName(): string {
  return `deployer-anchor-${useContext().serverId}`
}
