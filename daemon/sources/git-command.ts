import { dirname, extname, join } from 'node:path'
import type { CredentialDesk } from './credential-desk.ts'
import { GitError } from './git-error.ts'
import { GIT_IS_MISSING, type GitOrder } from './git-lifeline.ts'
import { OutputLines, TooMuchOutput, WholeOutput, type LineReader } from './git-output.ts'
import { GitProcess } from './git-process.ts'

/** git ends itself when it allocates more in one piece, which is sooner than a check from outside. */
const MAX_PIECE_BYTES = 256 * 1024 * 1024
/** How much of git's last messages is searched for the reason of a failure. */
const MAX_MESSAGES_CHARACTERS = 16 * 1024

/**
 * The limit for git, its children and the runner (30 MiB), without pages of files. Half a million files need a fifth of it;
 * more is needed only for objects of hundreds of megabytes, which git keeps in memory.
 */
const MAX_MEMORY_BYTES = 512 * 1024 * 1024

let runner: string | undefined

/** Sets the file that starts git; called once, when the server starts. */
export function provideGitRunner(file: string): void {
  runner = file
}

/** The program that connects ssh, which is next to the runner. */
export function gitDialer(): string {
  if (runner === undefined) throw new Error('the program that starts git has not been set')
  return join(dirname(runner), `git-dialer${extname(runner)}`)
}

/** One command. */
export interface GitCommand {
  /** git if absent; ssh is run the same way. */
  program?: 'ssh'
  arguments: string[]
  environment: Record<string, string>
  /** Receives each line of output, which is then not collected; a throw ends the command. */
  onOutputLine?: LineReader
}

/**
 * Runs git for one piece of work, one command after another, until the signal aborts or `end` is called. A separate process
 * starts git. It is killed with all its descendants by the signal, by `end`, when a command uses too much memory or writes
 * too much, and when the server ends.
 */
export class Git {
  readonly #signal: AbortSignal
  readonly #desk: CredentialDesk | undefined
  #process: GitProcess | null = null
  #isAtWork = false

  /** `desk` answers git's requests for credentials; without it, nothing does. Throws the reason of an aborted signal. */
  constructor(signal: AbortSignal, desk?: CredentialDesk) {
    signal.throwIfAborted()
    this.#signal = signal
    this.#desk = desk
    // The process starts while the caller prepares the first command.
    this.#process = this.#start()
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Returns the command's output. Throws GitError, the signal's reason, or what `onOutputLine` threw. */
  async run(command: GitCommand): Promise<string> {
    this.#signal.throwIfAborted()
    if (this.#isAtWork) throw new Error('a git command was started while another one runs')
    this.#isAtWork = true
    const running = (this.#process ??= this.#start())
    try {
      return await runIn(running, command)
    } catch (error) {
      // Children of a failed command may still write, which must not end up in the output of the next command.
      this.#process = null
      running.kill(error)
      await running.closed
      throw error
    } finally {
      this.#isAtWork = false
    }
  }

  /** Ends git and waits until all its descendants are gone. */
  async end(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort)
    const running = this.#process
    this.#process = null
    running?.kill(new Error('git was ended'))
    await running?.closed
  }

  readonly #onAbort = (): void => this.#process?.kill(this.#signal.reason)

  #start(): GitProcess {
    if (runner === undefined) throw new Error('the program that starts git has not been set')
    const started = new GitProcess(runner, this.#desk, (bytes) => {
      if (bytes > MAX_MEMORY_BYTES) started.kill(new GitError('', 'too much memory', TOO_MUCH_MEMORY))
    })
    return started
  }
}

/** Runs `work` with a git of its own, which ends with it; `desk` answers git's requests for credentials. */
export async function withGit<T>(
  signal: AbortSignal,
  work: (git: Git) => Promise<T>,
  desk?: CredentialDesk,
): Promise<T> {
  const git = new Git(signal, desk)
  try {
    return await work(git)
  } finally {
    await git.end()
  }
}

async function runIn(running: GitProcess, command: GitCommand): Promise<string> {
  const output = command.onOutputLine ? new OutputLines(command.onOutputLine) : new WholeOutput()
  let messages = ''
  const order: Omit<GitOrder, 'mark'> = {
    program: command.program ?? 'git',
    arguments: command.program ? command.arguments : [...HARMLESS, ...command.arguments],
    environment: { ...baseEnvironment(), ...command.environment },
  }
  try {
    const code = await running.run(order, {
      onOutput: (text) => output.feed(text),
      onMessages: (text) => void (messages = (messages + text).slice(-MAX_MESSAGES_CHARACTERS)),
    })
    if (code === GIT_IS_MISSING)
      throw new Error(`${order.program} is not installed on this server: install its package`)
    if (code !== 0) throw new GitError(subcommand(command), code, messages)
    return output.finish()
  } catch (error) {
    if (error instanceof TooMuchOutput)
      throw new GitError(subcommand(command), 'too much output', error.message)
    throw error
  }
}

const TOO_MUCH_MEMORY = `git needs more than ${MAX_MEMORY_BYTES / 1024 ** 2} MiB of memory for it`

/** Faults in the history of well-known repositories (git-fsck(1)): malformed names, dates or modes. */
const HARMLESS_FAULTS = [
  'badDate',
  'badEmail',
  'badName',
  'badTimezone',
  'missingEmail',
  'missingNameBeforeEmail',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'multipleAuthors',
  'zeroPaddedDate',
  'zeroPaddedFilemode',
]

/** Settings for every command: nothing in a repository or on this host may run a program or change what is written. */
const HARMLESS = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.symlinks', 'true'],
  ['core.autocrlf', 'false'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['advice.detachedHead', 'false'],
  ['init.defaultBranch', 'main'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  // Larger files are streamed; smaller ones are kept in memory, a few by each thread.
  ['core.bigFileThreshold', '16m'],
  ['pack.threads', '2'],
  // In a large tree, a second process writes half of the objects.
  ['checkout.workers', '2'],
  // Fetched objects are checked on arrival and stay one pack file, however small.
  ['fetch.unpackLimit', '1'],
  ['fetch.fsckObjects', 'true'],
  // URLs of submodules are judged before they are used.
  ['fetch.fsck.gitmodulesUrl', 'ignore'],
  ...HARMLESS_FAULTS.map((fault) => [`fetch.fsck.${fault}`, 'ignore']),
  // Gives up on a host that sends less than 1,000 bytes/s for a minute.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`])

/**
 * What git and its children inherit from this process: where programs are, and private certificate authorities. Proxies are
 * set by the gate: an exception for some hosts (NO_PROXY) would bypass the gate that judges them.
 */
const INHERITED = /^(PATH|TMPDIR|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO)$/

function baseEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([key, value]) => INHERITED.test(key) && value !== undefined,
  )
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    // Messages are searched, so they must be in English.
    LC_ALL: 'C.UTF-8',
    // Versions before 2.32 do not know GIT_CONFIG_GLOBAL and read the home directory.
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'http:https:ssh:git',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_ALLOC_LIMIT: String(MAX_PIECE_BYTES),
  }
}

function subcommand(command: GitCommand): string {
  return command.arguments.find((argument) => /^[a-z][a-z-]*$/.test(argument)) ?? ''
}
