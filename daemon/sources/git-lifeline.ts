/** The descriptor at which git's credential helper asks this server. */
export const GIT_CREDENTIALS_FD = 4
/** How the runner says that there is no git: as shells do, and as git itself never ends. */
export const GIT_IS_MISSING = 127

/** One command for the runner. */
export interface GitOrder {
  program: 'git' | 'ssh'
  arguments: string[]
  environment: Record<string, string>
  /** Written behind the command's output and behind its messages, with its exit code and a line end. */
  mark: string
}
