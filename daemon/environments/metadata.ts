import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { rejectMetadata, removeRules } from '../packet-filter/index.ts'
import type { World } from '../world.ts'

const log = logger('environments')

/** The subnets that the last run knew. */
let known = new Set<string>()
/** The result of the last run; the same result is logged only once. */
let outcome: string | null = null
/** Runs go one after the other: an earlier list of the networks must not be applied after a later one. */
let running: Promise<void> = Promise.resolve()

/** Sets the rules for a subnet unless they are set. Must be called before the first container in it starts. */
export async function guardSubnet(world: World, subnet: string): Promise<void> {
  if (!known.has(subnet)) await guardMetadata(world)
}

/**
 * Has the host reject connections from this server's networks to link-local and metadata addresses, or allows them with
 * `--allow-metadata`. Logs a warning if they cannot be rejected. Does nothing until it is known whether the engine's
 * networks are on this host. Throws `runtime_error` when the engine does not list them.
 */
export async function guardMetadata(world: World, isLocal = world.reachByAddress): Promise<void> {
  if (isLocal === null) return
  const done = running.catch(() => {}).then(() => guard(world, isLocal))
  running = done
  return done
}

async function guard(world: World, isLocal: boolean): Promise<void> {
  const { serverId, options } = useContext()
  if (options.allowMetadata) {
    // An earlier start without the flag may have left rules; nothing else sets any.
    if (outcome === null) await removeRules(serverId)
    return logOnce('allowed', () => log.info('containers may reach metadata addresses (--allow-metadata)'))
  }
  const own = new Set(world.engine.networks.names())
  const networks = (await world.engine.networks.list()).filter(({ name }) => own.has(name))
  const subnets = networks.flatMap((network) => network.subnets)
  try {
    assertAble(isLocal)
    const by = await rejectMetadata(serverId, subnets)
    world.metadataFault = null
    // Builds run on the engine's default network, which other programs use too.
    const what = 'metadata addresses are closed to containers; builds still reach them'
    logOnce(by, () => log.info(what, { rejected_by: by }))
  } catch (error) {
    const fault = messageOf(error)
    world.metadataFault = fault
    logOnce(fault, () =>
      log.warn(
        'containers can reach link-local and metadata addresses, where clouds hand out credentials: fix this, or reject 169.254.0.0/16 on the host',
        { reason: fault },
      ),
    )
  }
  known = new Set(subnets)
}

/** Throws when this server cannot set rules that apply to its containers. */
function assertAble(isLocal: boolean): void {
  if (!isLocal)
    throw new Error('the engine is rootless or in a virtual machine: its networks are not on this host')
  if (process.getuid?.() !== 0) throw new Error('the server does not run as root')
}

function logOnce(what: string, write: () => void): void {
  if (what !== outcome) write()
  outcome = what
}
