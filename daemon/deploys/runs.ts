import type { DeployRow } from '#server/deploys/store.ts'

/** A running deploy. */
export interface Run {
  deploy: DeployRow
  abort: AbortController
  done: Promise<void>
}

/** All running deploys of the server by id; the removal of a service waits for its own. */
export const runs = new Map<string, Run>()

/** Waits until no deploy of a service is running. */
export async function deploysDone(serviceId: string): Promise<void> {
  const own = [...runs.values()].filter(({ deploy }) => deploy.service_id === serviceId)
  await Promise.all(own.map(({ done }) => done))
}
