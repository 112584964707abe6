import { PATH_TOO_LONG } from './path-limits.ts'

/** What git says when it cannot write, of which errno(3) is not always told, and what that means. */
const DISK_FAULTS: [words: RegExp, meaning: string][] = [
  [/File name too long/, PATH_TOO_LONG],
  [
    /No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system|unable to write (?:file|new index)/,
    'the disk of this server is full or cannot be written to: make room on it, then try again',
  ],
]

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

/** What is wrong with this server's disk; null when git failed for something else. What a remote says of its own is left out. */
export function diskFault({ messages }: GitError): string | null {
  const own = messages.split('\n').filter((line) => !/^(?:fatal: )?remote(?: error)?:/.test(line))
  return DISK_FAULTS.find(([words]) => own.some((line) => words.test(line)))?.[1] ?? null
}
