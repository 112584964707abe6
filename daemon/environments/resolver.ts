import { REFUSED } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { setImmediate } from 'node:timers/promises'
import { loadEnvironment, type Environment } from '#server/environments/store.ts'
import { messageOf } from '#server/errors.ts'
import { addressAt, allotJobAddress, jobAddressHolders, releaseAddress } from '#server/instances/addresses.ts'
import { logger } from '#server/log.ts'
import { PROBE_ADDRESS, PROBE_NAME } from '../proxy/zones.ts'
import type { World } from '../world.ts'
import { addressFor } from './addresses.ts'
import type { Network } from './networks.ts'

const log = logger('resolver')

/** A lookup that is answered takes milliseconds; the first container of an environment waits at most this long. */
const PROBE_MS = 5_000
/** The data plane is on this host. */
const ASK_MS = 1_000
const PROBE_PREFIX = 'deployer-probe-'
const PROBE_MEMORY_BYTES = 64 * 1024 ** 2
/** The probe's output when its image has no program that looks names up. */
const NO_TOOL = 'no lookup program'
const LOOK_UP = `if command -v getent >/dev/null; then getent hosts ${PROBE_NAME}
elif command -v nslookup >/dev/null; then nslookup ${PROBE_NAME}
else echo '${NO_TOOL}'; fi`

interface Verdict {
  /** A network that is created again may have another gateway. */
  gateway: string
  works: Promise<boolean | null>
}

/** Whether the resolver's answers reach containers of an environment, found out once per start; by environment id. */
const verdicts = new Map<string, Verdict>()
/** The names of probes that are under way. */
const running = new Set<string>()

/**
 * The name server for a new container of an environment; null where the engine's aliases must do instead. The image of the
 * first container is used for a probe; if it has no shell or no lookup program, the next container's image is tried. On another
 * node the network says which one it is.
 */
export async function nameServerOf(
  world: World,
  environment: Environment,
  network: Network,
  imageId: string,
): Promise<string | null> {
  if (network.nameServer !== undefined) return network.nameServer
  if (world.reachByAddress !== true) return null
  const gateway = addressAt(network.subnet, 1)
  let verdict = verdicts.get(environment.id)
  if (verdict?.gateway !== gateway) {
    verdict = {
      gateway,
      works: checkResolver(world, loadEnvironment(environment.id), network, gateway, imageId),
    }
    verdicts.set(environment.id, verdict)
  }
  let works: boolean | null = null
  try {
    works = await verdict.works
  } finally {
    // The probe gave no result, so the next container probes again.
    if (works === null && verdicts.get(environment.id) === verdict) verdicts.delete(environment.id)
  }
  return (works ?? (await isAnswering(gateway))) ? gateway : null
}

/** What the probe of an environment has found; null while there was none, or it gave no result. */
export async function probedResolver(environmentId: string): Promise<boolean | null> {
  // A probe in progress may take longer than the caller can wait.
  return (await Promise.race([verdicts.get(environmentId)?.works, setImmediate(null)])) ?? null
}

/**
 * Removes probes that a killed server left, or that could not be removed, such as while the disk was full. They all hold an
 * address, which is recorded before the container is created.
 */
export async function removeLeftProbes(world: World): Promise<void> {
  const left = jobAddressHolders().filter((name) => name.startsWith(PROBE_PREFIX) && !running.has(name))
  for (const name of left) await removeProbe(world, name)
}

/** Forgets the result for an environment, and removes a probe that a killed server left. */
export async function forgetResolver(world: World, environmentId: string): Promise<void> {
  verdicts.delete(environmentId)
  await world.engine.containers.remove(probeName(environmentId))
}

async function checkResolver(
  world: World,
  environment: Environment,
  network: Network,
  gateway: string,
  imageId: string,
): Promise<boolean | null> {
  const fields = { environment: environment.name, gateway }
  // The data plane may not know the gateway yet.
  await world.dataPlane.sync()
  if (!(await isAnswering(gateway))) {
    log.warn(
      'the data plane cannot answer DNS here (is port 53 taken?): engine aliases are used instead, and names may resolve to instances that are stopping',
      fields,
    )
    return false
  }
  const works = await probe(world, environment.id, network, gateway, imageId)
  if (works === false) {
    log.warn(
      'containers get no answer from the resolver (a firewall on the host?): engine aliases are used instead, and names may resolve to instances that are stopping',
      fields,
    )
  } else if (works) log.info('containers get answers from the resolver', fields)
  else log.info('the image cannot test the resolver; the next one will be tried', fields)
  return works
}

/**
 * Whether the data plane holds port 53 of a gateway. The engine may rewrite the source address of the host's own packets,
 * and the data plane refuses unknown addresses; so a refusal counts too: another name server would have looked the name up.
 */
export async function isAnswering(gateway: string, askMs: number = ASK_MS): Promise<boolean> {
  const resolver = new Resolver({ timeout: askMs, tries: 2 })
  resolver.setServers([gateway])
  try {
    return (await resolver.resolve4(PROBE_NAME)).includes(PROBE_ADDRESS)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === REFUSED
  }
}

/** Looks a name up in a container of the image; null when that cannot be done with this image. */
async function probe(
  world: World,
  environmentId: string,
  network: Network,
  gateway: string,
  image: string,
): Promise<boolean | null> {
  const { containers } = world.engine
  const name = probeName(environmentId)
  running.add(name)
  try {
    await containers.remove(name)
    await containers.create({
      name,
      image,
      labels: { 'deployer.kind': 'probe', 'deployer.environment': environmentId },
      env: {},
      entrypoint: ['/bin/sh'],
      command: ['-c', LOOK_UP],
      network: network.name,
      address: await addressFor(world.engine, allotJobAddress, environmentId, network, name),
      dns: [gateway],
      memoryBytes: PROBE_MEMORY_BYTES,
      cpus: 1,
    })
    await containers.start(name)
    const limit = AbortSignal.timeout(PROBE_MS)
    const end = await containers.wait(name, limit).catch((error: unknown) => {
      if (!limit.aborted) throw error
      return null
    })
    let output = ''
    for await (const { line } of world.engine.output.logs(name, { signal: AbortSignal.timeout(ASK_MS) }))
      output += `${line}\n`
    if (output.includes(PROBE_ADDRESS)) return true
    // A probe that failed for another reason (no rights, no memory) has not looked anything up.
    return output.includes(NO_TOOL) || (end !== null && end.exitCode > 2) ? null : false
  } catch (error) {
    log.debug('the probe did not run', { error: messageOf(error) })
    return null
  } finally {
    await removeProbe(world, name)
    running.delete(name)
  }
}

/** Removes a probe. If that fails it keeps its address, by which it is found later. */
async function removeProbe(world: World, name: string): Promise<void> {
  try {
    await world.engine.containers.remove(name)
    releaseAddress(name)
  } catch (error) {
    log.warn('a probe could not be removed', { name, error: messageOf(error) })
  }
}

function probeName(environmentId: string): string {
  return `${PROBE_PREFIX}${environmentId}`
}
