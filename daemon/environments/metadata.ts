import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { rejectMetadata, removeRules } from '../packet-filter/index.ts'
import type { World } from '../world.ts'

const log = logger('environments')

/** The subnets that the last run knew of. */
let known = new Set<string>()
/** What the last run came to: it is logged once. */
let outcome: string | null = null
/** One after the other: an earlier look at the networks must not be applied after a later one. */
let running: Promise<void> = Promise.resolve()

/** Sets the rules for a subnet unless they are there: to be called before the first container in it starts. */
export async function guardSubnet(world: World, subnet: string): Promise<void> {
  if (!known.has(subnet)) await guardMetadata(world)
}

/**
 * Has the host reject connections from this server's networks to link-local and metadata addresses, or lets them through
 * where `--allow-metadata` says so. Where that cannot be done the log says what is open. Does nothing before it is known
 * where the engine has its networks. Throws `runtime_error` when the engine does not list them.
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
    // Rules of a start without the flag; nobody else sets any.
    if (outcome === null) await removeRules(serverId)
    return say('allowed', () => log.info('containers may reach metadata addresses (--allow-metadata)'))
  }
  const own = new Set(world.engine.networks.names())
  const networks = (await world.engine.networks.list()).filter(({ name }) => own.has(name))
  const subnets = networks.flatMap((network) => network.subnets)
  try {
    assertAble(isLocal)
    const by = await rejectMetadata(serverId, subnets)
    world.metadataFault = null
    // They run on the engine's default network, which is not only this server's.
    const what = 'metadata addresses are closed to containers; builds still reach them'
    say(by, () => log.info(what, { rejected_by: by }))
  } catch (error) {
    const fault = messageOf(error)
    world.metadataFault = fault
    say(fault, () =>
      log.warn(
        'containers reach link-local and metadata addresses, where clouds hand out credentials: correct this, or reject 169.254.0.0/16 on the host',
        { reason: fault },
      ),
    )
  }
  known = new Set(subnets)
}

/** Throws what keeps this server from setting rules that hold for its containers. */
function assertAble(isLocal: boolean): void {
  if (!isLocal)
    throw new Error('the engine is rootless or in a virtual machine: its networks are not on this host')
  if (process.getuid?.() !== 0) throw new Error('the server does not run as root')
}

function say(what: string, write: () => void): void {
  if (what !== outcome) write()
  outcome = what
}
