import type { DeployRow } from '#server/deploys/store.ts'

/** A deploy that is being carried out. */
export interface Run {
  deploy: DeployRow
  abort: AbortController
  done: Promise<void>
}

/** The deploys under way by id: of the whole server, as the removal of a service waits for its own. */
export const runs = new Map<string, Run>()

/** Waits until no deploy of a service is carried out any more. */
export async function deployGone(serviceId: string): Promise<void> {
  const own = [...runs.values()].filter(({ deploy }) => deploy.service_id === serviceId)
  await Promise.all(own.map(({ done }) => done))
}
