import { getDeploy, sealSnapshot, updateDeploy } from '#server/deploys/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { AppError } from '#server/errors.ts'
import { getInstance, instancesOf, updateInstance, type InstanceRow } from '#server/instances/store.ts'
import { hostsOf } from '#server/services/hosts.ts'
import type { World } from '../world.ts'
import { lossOf, startInstance } from './containers.ts'
import { recordCrash, recordEnd, type Ends } from './ends.ts'
import type { Launch } from './launch.ts'
import type { ProbeTarget } from './probe.ts'
import { NotReady, waitUntilReady } from './readiness.ts'

/** How an instance is brought up. */
interface BringUp {
  /** Set in a rollout, where a program that ended is restarted, and the port is detected if nobody chose it. */
  ends: Ends | null
  /** Called between the start and the wait. */
  onStart?: () => void
  /** Writes a hint into the log. */
  say: (hint: string) => void
}

/** Starts an instance and waits until it is ready; calls `prepare` before each start. Throws NotReady or `runtime_error`. */
export async function bringUp(
  world: World,
  prepare: () => Promise<Launch>,
  id: string,
  { ends, onStart, say }: BringUp,
  signal: AbortSignal,
): Promise<void> {
  const start = async () => {
    const prepared = await prepare()
    await startInstance(world, prepared, instanceOf(id))
    return prepared
  }
  let launch = await start()
  onStart?.()
  const { service, snapshot } = launch
  const hostHeader = hostsOf(service, loadEnvironment(service.environment_id))[0] ?? service.name
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
  const mayTake = ends !== null && !snapshot.is_port_chosen && world.reachByAddress === true
  await waitUntilReady(
    world.engineOf(launch.nodeId),
    id,
    {
      target: snapshot.port === null ? null : target,
      expected: {
        port: () => launch.snapshot.port ?? 0,
        take: mayTake ? (port) => takePort(launch, port) : null,
        say,
      },
      lossOf: (container) => lossOf(container, instanceOf(id), launch.network),
      onEnd: async (exitCode, how) => {
        recordEnd(instanceOf(id), exitCode, how)
        if (ends === null) {
          recordCrash(instanceOf(id), exitCode, how)
          throw new NotReady(how)
        }
        ends.count(id, how)
        launch = await start()
      },
    },
    signal,
  )
}

/** Routes a deploy to the port on which its program listens, from now on and for every later container. */
function takePort(launch: Launch, port: number): void {
  const { deploy, service, snapshot } = launch
  snapshot.port = port
  if (!getDeploy(deploy.id)) return
  updateDeploy(deploy.id, { snapshot: sealSnapshot(snapshot), port })
  for (const { id, deploy_id, upstream_host } of instancesOf(service.id)) {
    if (deploy_id === deploy.id && upstream_host !== null) updateInstance(id, { upstream_port: port })
  }
}

function instanceOf(id: string): InstanceRow {
  const instance = getInstance(id)
  if (!instance) throw new AppError('conflict', `${id} was removed while it was starting`)
  return instance
}
