import { useContext } from '#server/context.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { publicUrl } from '#server/network/public-address.ts'
import { hostsOf } from '#server/services/hosts.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { shellArguments } from '#plans/index.ts'
import type { ContainerSpec } from '../engine/index.ts'
import { placeIn } from '../environments/networks.ts'
import type { Launch } from './launch.ts'

const MIB = 1024 * 1024

/** What distinguishes one container of a service from the others. */
export interface ContainerRole {
  /** The container's name, which is also its `DEPLOYER_INSTANCE_ID`. */
  name: string
  kind: 'instance' | 'job' | 'pre-deploy' | 'shell'
  /** Its address in the environment's subnet. */
  address: string
  /** Replaces the image's own command; null keeps that. */
  command: string | null
}

/** Returns the spec of a service's container, with the image, variables, limits and network of a deploy's snapshot. */
export function serviceContainer(launch: Launch, role: ContainerRole): ContainerSpec {
  const { options } = useContext()
  const { service, deploy, snapshot, network, nameServer } = launch
  const [entrypoint, ...command] = role.command === null ? [] : shellArguments(role.command)
  return {
    name: role.name,
    image: snapshot.image_id,
    labels: { 'deployer.kind': role.kind, 'deployer.service': service.id, 'deployer.deploy': deploy.id },
    env: { ...snapshot.env, ...serverVariables(service, deploy, role.name) },
    ...(entrypoint === undefined ? {} : { entrypoint: [entrypoint], command }),
    ...placeIn(network, role.address),
    ...(nameServer === null ? {} : { dns: [nameServer] }),
    memoryBytes: (snapshot.memory_limit_mb || options.defaultMemoryMb) * MIB,
    cpus: snapshot.cpu_limit || options.defaultCpus,
  }
}

/** Returns the variables that tell a service's container about itself. */
function serverVariables(service: ServiceRow, deploy: DeployRow, instanceId: string): Record<string, string> {
  const environment = loadEnvironment(service.environment_id)
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
