import { cpus } from 'node:os'
import { useContext } from '#server/context.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { hostsOf } from '#server/services/hosts.ts'
import { publicUrl } from '#server/public-address.ts'
import { allotAddress, releaseAddress } from '#server/instances/addresses.ts'
import {
  deleteInstance,
  insertInstance,
  newInstanceId,
  updateInstance,
  type InstanceRow,
} from '#server/instances/store.ts'
import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { shellArguments } from '../builds/start-command.ts'
import { ensureNetwork } from '../environments/networks.ts'
import type { World } from '../world.ts'

/** How long a stopped program may take before it is killed. */
export const STOP_GRACE_SECONDS = 30

const MIB = 1024 * 1024

/** Records a new instance of a deploy with an address of its own, status `starting`. */
export async function addInstance(world: World, service: ServiceRow, deployId: string): Promise<string> {
  const network = await ensureNetwork(world.engine, findEnvironment(service.environment_id))
  const id = newInstanceId(service.id)
  insertInstance(id, service.id, deployId, allotAddress(service.environment_id, network.subnet, id))
  return id
}

/**
 * Creates the instance's container from the deploy's snapshot and starts it; a container that is already there is only
 * started. Throws `runtime_error`.
 */
export async function startInstance(
  world: World,
  instance: InstanceRow,
  service: ServiceRow,
  deploy: DeployRow,
  snapshot: Snapshot,
): Promise<void> {
  const { engine } = world
  if ((await engine.containers.inspect(instance.id)) === null) {
    const network = await ensureNetwork(engine, findEnvironment(service.environment_id))
    const { options } = useContext()
    const [entrypoint, ...command] =
      snapshot.start_command === null ? [] : shellArguments(snapshot.start_command)
    await engine.containers.create({
      name: instance.id,
      image: snapshot.image_id,
      labels: { 'deployer.kind': 'instance', 'deployer.service': service.id, 'deployer.deploy': deploy.id },
      env: { ...snapshot.env, ...serverVariables(service, deploy, instance.id) },
      ...(entrypoint === undefined ? {} : { entrypoint: [entrypoint], command }),
      network: network.name,
      address: instance.address,
      aliases: service.type === 'background_worker' ? [] : [service.name],
      memoryBytes: (snapshot.memory_limit_mb || options.defaultMemoryMb) * MIB,
      cpus: Math.min(snapshot.cpu_limit || options.defaultCpus, cpus().length),
      ...(world.reachByAddress || snapshot.port === null ? {} : { publishPort: snapshot.port }),
    })
  }
  await engine.containers.start(instance.id)
  updateInstance(instance.id, { started_at: Date.now(), ...(await upstreamOf(world, instance, snapshot)) })
}

/** Stops an instance's container, removes it and forgets the instance. Missing parts do not matter. */
export async function removeInstance(
  world: World,
  instance: Pick<InstanceRow, 'id'>,
  graceSeconds: number,
): Promise<void> {
  if ((await world.engine.containers.inspect(instance.id)) !== null) {
    if (graceSeconds > 0) await world.engine.containers.stop(instance.id, graceSeconds)
    await world.engine.containers.remove(instance.id)
  }
  releaseAddress(instance.id)
  deleteInstance(instance.id)
}

async function upstreamOf(
  world: World,
  instance: InstanceRow,
  snapshot: Snapshot,
): Promise<Pick<InstanceRow, 'upstream_host' | 'upstream_port'>> {
  if (snapshot.port === null) return { upstream_host: null, upstream_port: null }
  if (world.reachByAddress) return { upstream_host: instance.address, upstream_port: snapshot.port }
  const state = await world.engine.containers.inspect(instance.id)
  return { upstream_host: '127.0.0.1', upstream_port: state?.publishedPort ?? null }
}

/** What every container of a service is told about itself. */
function serverVariables(service: ServiceRow, deploy: DeployRow, instanceId: string): Record<string, string> {
  const environment = findEnvironment(service.environment_id)
  const host = hostsOf(service, environment)[0]
  return {
    DEPLOYER: 'true',
    DEPLOYER_SERVICE_ID: service.id,
    DEPLOYER_SERVICE_NAME: service.name,
    DEPLOYER_SERVICE_TYPE: service.type,
    DEPLOYER_ENVIRONMENT: environment.name,
    DEPLOYER_DEPLOY_ID: deploy.id,
    DEPLOYER_INSTANCE_ID: instanceId,
    ...(deploy.commit_sha === null ? {} : { DEPLOYER_GIT_COMMIT: deploy.commit_sha }),
    ...(branchOf(deploy) === null ? {} : { DEPLOYER_GIT_BRANCH: branchOf(deploy)! }),
    ...(host === undefined
      ? {}
      : { DEPLOYER_EXTERNAL_URL: publicUrl(host), DEPLOYER_EXTERNAL_HOSTNAME: host }),
  }
}

function branchOf(deploy: DeployRow): string | null {
  return (JSON.parse(deploy.source) as { branch: string | null }).branch
}
