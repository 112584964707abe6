import type { Environment } from '#server/environments/store.ts'

const PREFIX = 'deployer-'
const OVERLAY_SUFFIX = '-nodes'

/** The engine's name of an environment's network. */
export function networkName({ id }: Pick<Environment, 'id'>): string {
  return `${PREFIX}${id}`
}

/** The engine's name of an environment's overlay, which spans the nodes. */
export function overlayName(environment: Pick<Environment, 'id'>): string {
  return `${networkName(environment)}${OVERLAY_SUFFIX}`
}

export function isOverlayName(name: string): boolean {
  return name.endsWith(OVERLAY_SUFFIX)
}

/** The environment whose network or overlay has this name. */
export function environmentOf(name: string): string {
  return name.slice(PREFIX.length, isOverlayName(name) ? -OVERLAY_SUFFIX.length : undefined)
}
