import { PATH_TOO_LONG } from './path-limits.ts'

/** git's messages when it cannot write, which do not always include the error of errno(3), and what they mean. */
const DISK_FAULTS: [words: RegExp, meaning: string][] = [
  [/File name too long/, PATH_TOO_LONG],
  [
    /No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system|unable to write (?:file|new index)/,
    'the disk of this server is full or cannot be written to: free some space, then try again',
  ],
]

/** A git command that failed; `messages` is what it wrote about that. */
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

/** What is wrong with this server's disk; null when git failed for another reason. Ignores messages of the remote. */
export function diskFault({ messages }: GitError): string | null {
  const own = messages.split('\n').filter((line) => !/^(?:fatal: )?remote(?: error)?:/.test(line))
  return DISK_FAULTS.find(([words]) => own.some((line) => words.test(line)))?.[1] ?? null
}
