/** The prefix of the labels of containers, networks and volumes that this server creates. */
const PREFIX = 'deployer.'
/** Narrows a search to what a server may have created; its ledger says whether it did. */
const SERVER_LABEL = `${PREFIX}server`
/** The key on images; a different one, since every container inherits the labels of its image, whoever creates it. */
const IMAGE_SERVER_LABEL = 'deployer-image.server'

/** The labels of something that this server creates. */
export function ownLabels(serverId: string, labels: Record<string, string> = {}): Record<string, string> {
  return { ...labels, [SERVER_LABEL]: serverId }
}

/** The labels of an image that this server builds. */
export function imageLabels(serverId: string, labels: Record<string, string> = {}): Record<string, string> {
  return { ...labels, [IMAGE_SERVER_LABEL]: serverId }
}

/** Labels that override an image's own labels with this server's prefix; the engine has no other way to remove them. */
export function withoutClaims(ofImage: Record<string, string>): Record<string, string> {
  const claims = Object.keys(ofImage).filter((key) => key.startsWith(PREFIX))
  return Object.fromEntries(claims.map((key) => [key, '']))
}

/** Whether labels say that this server created something. */
export function isLabelled(serverId: string, labels: Record<string, string> | null | undefined): boolean {
  return labels?.[SERVER_LABEL] === serverId
}

/** The value of the engine's `label` filter for what this server created, with further labels. */
export function labelFilter(serverId: string, labels: Record<string, string> = {}): string[] {
  return Object.entries(ownLabels(serverId, labels)).map(([key, value]) => `${key}=${value}`)
}
