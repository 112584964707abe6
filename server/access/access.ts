/** What a token may call, each including the ones before it. */
export const MODES = ['read', 'deploy', 'full'] as const
export type Mode = (typeof MODES)[number]

/** What a caller may do. Environments and services are ids; null is all of them, and an empty list is none. */
export interface Access {
  mode: Mode
  /** Whether values of variables, keys, passwords and downloads are shown. */
  secrets: boolean
  environments: readonly string[] | null
  services: readonly string[] | null
}

/** What a session, the server token and a token without restrictions may do: everything. */
export const FULL: Access = { mode: 'full', secrets: true, environments: null, services: null }

/** Whether a caller with `mode` may call what takes at least `least`. */
export function includes(mode: Mode, least: Mode): boolean {
  return MODES.indexOf(mode) >= MODES.indexOf(least)
}

/** Whether a caller may reach only some environments or services. */
export function isRestricted({ environments, services }: Access): boolean {
  return environments !== null || services !== null
}

/** Whether a caller may do and see everything, so that nothing has to be checked or left out. */
export function isUnlimited(access: Access): boolean {
  return access.mode === 'full' && access.secrets && !isRestricted(access)
}
