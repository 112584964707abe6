/** Marks everything that a server made in the engine; only what carries its own id is ever touched. */
const SERVER_LABEL = 'deployer.server'

/** The labels of a thing that this server makes. */
export function ownLabels(serverId: string, labels: Record<string, string> = {}): Record<string, string> {
  return { ...labels, [SERVER_LABEL]: serverId }
}

/** Whether the labels of a thing say that this server made it. */
export function isOwn(serverId: string, labels: Record<string, string> | null | undefined): boolean {
  return labels?.[SERVER_LABEL] === serverId
}

/** The value of the engine's `label` filter for what this server made, with further labels. */
export function labelFilter(serverId: string, labels: Record<string, string> = {}): string[] {
  return Object.entries(ownLabels(serverId, labels)).map(([key, value]) => `${key}=${value}`)
}
