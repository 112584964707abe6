/** The descriptor with which git's credential helper asks this server. */
export const GIT_CREDENTIALS_FD = 4
/** The runner's exit code when git is missing: that of shells, which git itself never uses. */
export const GIT_IS_MISSING = 127

/** One command for the runner. */
export interface GitOrder {
  program: 'git' | 'ssh'
  arguments: string[]
  environment: Record<string, string>
  /** Written after the command's output and after its messages, with its exit code and a newline. */
  mark: string
}
