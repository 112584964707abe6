/** Failures of the application itself, which only its deploy reports. */
const OWN_FAILURES = new Set(['NotReady', 'BuildFailure', 'PreDeployFailure', 'SiteFailure'])

/** Whether a deploy failed because of the application, so that a retry would fail again. */
export function isOwnFailure(error: unknown): boolean {
  return error instanceof Error && OWN_FAILURES.has(error.name)
}
