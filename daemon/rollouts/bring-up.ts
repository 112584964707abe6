import { getDeploy, sealSnapshot, updateDeploy } from '#server/deploys/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { AppError } from '#server/errors.ts'
import { getInstance, instancesOf, updateInstance } from '#server/instances/store.ts'
import { hostsOf } from '#server/services/hosts.ts'
import { ensureNetwork } from '../environments/networks.ts'
import { lossOf, startInstance } from '../instances/containers.ts'
import type { Launch } from '../instances/launch.ts'
import type { World } from '../world.ts'
import type { ProbeTarget } from './probe.ts'
import { waitUntilReady } from './readiness.ts'

/** How an instance is brought up. */
interface BringUp {
  /** Of a rollout: a program that ended is started again, and a port that nobody chose is found out. */
  isNew: boolean
  /** Told between the start and the wait. */
  onStart?: () => void
  /** Hints for who reads the log. */
  say: (hint: string) => void
}

/** Starts an instance and waits until it is ready. Throws NotReady, or `runtime_error`. */
export async function bringUp(
  world: World,
  launch: Launch,
  id: string,
  { isNew, onStart, say }: BringUp,
  signal: AbortSignal,
): Promise<void> {
  const { service, snapshot } = launch
  const start = () => startInstance(world, launch, instanceOf(id))
  const startAgain = async () => {
    // What it lost may be a network that was removed.
    launch.network = await ensureNetwork(world.engine, findEnvironment(service.environment_id))
    await start()
  }
  await start()
  onStart?.()
  const hostHeader = hostsOf(service, findEnvironment(service.environment_id))[0] ?? service.name
  const target = (): ProbeTarget => {
    const { upstream_host, upstream_port } = instanceOf(id)
    return {
      host: upstream_host ?? '',
      port: upstream_port ?? 0,
      path: snapshot.health_check_path,
      hostHeader,
      published: world.reachByAddress === false,
    }
  }
  const mayTake = isNew && !snapshot.is_port_chosen && world.reachByAddress === true
  await waitUntilReady(
    world.engine,
    id,
    {
      target: snapshot.port === null ? null : target,
      expected: {
        port: () => launch.snapshot.port ?? 0,
        take: mayTake ? (port) => takePort(launch, port) : null,
        say,
      },
      lossOf: (container) => lossOf(container, instanceOf(id), launch.network),
      onEnd: (exitCode, how) => {
        const restarts = instanceOf(id).restarts + 1
        updateInstance(id, { restarts, exit_code: exitCode, reason: how })
      },
      restart: isNew ? startAgain : null,
    },
    signal,
  )
}

/** Routes a deploy to the port that its program was found on, from now on and for every later container. */
function takePort(launch: Launch, port: number): void {
  const { deploy, service, snapshot } = launch
  snapshot.port = port
  if (!getDeploy(deploy.id)) return
  updateDeploy(deploy.id, { snapshot: sealSnapshot(snapshot), port })
  for (const { id, deploy_id, upstream_host } of instancesOf(service.id)) {
    if (deploy_id === deploy.id && upstream_host !== null) updateInstance(id, { upstream_port: port })
  }
}

function instanceOf(id: string): NonNullable<ReturnType<typeof getInstance>> {
  const instance = getInstance(id)
  if (!instance) throw new AppError('conflict', `${id} was removed while it was started`)
  return instance
}
