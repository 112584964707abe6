/** A git command that ended with a failure; `messages` is what it wrote about that. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly code: number | string
  readonly messages: string

  constructor(command: string, code: number | string, messages: string) {
    super(`git ${command} ended with ${code}: ${messages.trim()}`)
    this.code = code
    this.messages = messages
  }
}
