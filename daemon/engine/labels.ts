/** What the labels of containers, networks and volumes begin with that this server makes. */
const PREFIX = 'deployer.'
/** Narrows a search to what a server may have made; whether it did is in its ledger. */
const SERVER_LABEL = `${PREFIX}server`
/** On images: a key of its own, since an image hands its labels on to every container that anyone makes of it. */
const IMAGE_SERVER_LABEL = 'deployer-image.server'

/** The labels of a thing that this server makes. */
export function ownLabels(serverId: string, labels: Record<string, string> = {}): Record<string, string> {
  return { ...labels, [SERVER_LABEL]: serverId }
}

/** The labels of an image that this server builds. */
export function imageLabels(serverId: string, labels: Record<string, string> = {}): Record<string, string> {
  return { ...labels, [IMAGE_SERVER_LABEL]: serverId }
}

/** The labels that take away what an image says in this server's name; the engine knows no other way. */
export function withoutClaims(ofImage: Record<string, string>): Record<string, string> {
  const claims = Object.keys(ofImage).filter((key) => key.startsWith(PREFIX))
  return Object.fromEntries(claims.map((key) => [key, '']))
}

/** Whether the labels of a thing say that this server made it. */
export function isLabelled(serverId: string, labels: Record<string, string> | null | undefined): boolean {
  return labels?.[SERVER_LABEL] === serverId
}

/** The value of the engine's `label` filter for what this server made, with further labels. */
export function labelFilter(serverId: string, labels: Record<string, string> = {}): string[] {
  return Object.entries(ownLabels(serverId, labels)).map(([key, value]) => `${key}=${value}`)
}
