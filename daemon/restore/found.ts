import { getDeploy, openSnapshot } from '#server/deploys/store.ts'
import { getService } from '#server/services/store.ts'
import type { Upstream } from '#proxy/protocol.ts'
import type { ContainerState } from '../engine/index.ts'
import type { World } from '../world.ts'

/**
 * What serves each service now, by the labels of running containers: also those of deploys that the restored records do not
 * know.
 */
export async function foundUpstreams({ engine }: World): Promise<Map<string, Upstream[]>> {
  const found = new Map<string, Upstream[]>()
  for (const { state } of await engine.containers.running()) {
    if (state.labels['deployer.kind'] !== 'instance') continue
    const serviceId = state.labels['deployer.service'] ?? ''
    const upstream = upstreamOf(state, portOf(serviceId))
    if (upstream) found.set(serviceId, [...(found.get(serviceId) ?? []), upstream])
  }
  return found
}

function portOf(serviceId: string): number | null {
  const deployId = getService(serviceId)?.live_deploy_id
  const live = deployId ? getDeploy(deployId) : undefined
  return live ? (openSnapshot(live)?.port ?? null) : null
}

function upstreamOf({ name, address, publishedPort }: ContainerState, port: number | null): Upstream | null {
  if (port === null) return null
  if (publishedPort !== null) return { instance: name, host: '127.0.0.1', port: publishedPort }
  return address === null ? null : { instance: name, host: address, port }
}
