/** Failures of the application itself, which only its deploy reports. */
const OWN = new Set(['NotReady', 'BuildFailure', 'PreDeployFailure', 'SiteFailure'])

/** Whether a deploy failed because of the application, so that a retry would fail again. */
export function isOwnFailure(error: unknown): boolean {
  return error instanceof Error && OWN.has(error.name)
}
