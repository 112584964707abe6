/** Failures that are the application's own, told in its deploy and nowhere else. */
const OWN = new Set(['NotReady', 'BuildFailure', 'PreDeployFailure', 'SiteFailure'])

/** Whether a deploy failed by what it deploys: the same would happen again. */
export function isOwnFailure(error: unknown): boolean {
  return error instanceof Error && OWN.has(error.name)
}
