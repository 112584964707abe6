import { dirname, extname, join } from 'node:path'
import type { CredentialDesk } from './credential-desk.ts'
import { GitError } from './git-error.ts'
import { GIT_IS_MISSING, type GitOrder } from './git-lifeline.ts'
import { OutputLines, TooMuchOutput, WholeOutput, type LineReader } from './git-output.ts'
import { GitProcess } from './git-process.ts'

/** One piece of memory that is larger ends git itself, sooner than a look from outside would. */
const MAX_PIECE_BYTES = 256 * 1024 * 1024
/** As much of git's own messages as is looked through for the reason of a failure. */
const MAX_MESSAGES_CHARACTERS = 16 * 1024

/**
 * Of git, all that it starts and the runner (30 MiB), pages of files left out. Half a million files take a fifth of it;
 * what takes more are objects of hundreds of megabytes, which git holds whole.
 */
const MAX_MEMORY_BYTES = 512 * 1024 * 1024

let runner: string | undefined

/** Says which file starts git; once, when the server starts. */
export function provideGitRunner(file: string): void {
  runner = file
}

/** The program that connects ssh, which lies beside that. */
export function gitDialer(): string {
  if (runner === undefined) throw new Error('there is no program that connects ssh')
  return join(dirname(runner), `git-dialer${extname(runner)}`)
}

/** One command. */
export interface GitCommand {
  /** git when it is left out; ssh is run the same way. */
  program?: 'ssh'
  arguments: string[]
  environment: Record<string, string>
  /** Receives each line of output as it comes, which is then not collected; a throw ends the command. */
  onOutputLine?: LineReader
}

/**
 * Runs git for one piece of work, one command after another, until the signal aborts or it is ended. A process of its own
 * starts it, which is killed with all that git started by either, by a command that takes too much memory or writes too
 * much, and with the server itself.
 */
export class Git {
  readonly #signal: AbortSignal
  readonly #desk: CredentialDesk | undefined
  #process: GitProcess | null = null
  #isAtWork = false

  /** `desk` answers git's questions for credentials; nothing does without. Throws the signal's reason when it has aborted. */
  constructor(signal: AbortSignal, desk?: CredentialDesk) {
    signal.throwIfAborted()
    this.#signal = signal
    this.#desk = desk
    // It starts while others prepare.
    this.#process = this.#start()
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Answers what the command wrote. Throws GitError, the signal's reason, or what `onOutputLine` threw. */
  async run(command: GitCommand): Promise<string> {
    this.#signal.throwIfAborted()
    if (this.#isAtWork) throw new Error('git was asked for a second command beside the first')
    this.#isAtWork = true
    const running = (this.#process ??= this.#start())
    try {
      return await runIn(running, command)
    } catch (error) {
      // What a command that failed has started may still write, and is not to write into the output of the next.
      this.#process = null
      running.kill(error)
      await running.closed
      throw error
    } finally {
      this.#isAtWork = false
    }
  }

  /** Ends it; waits until all that it started is gone. */
  async end(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort)
    const running = this.#process
    this.#process = null
    running?.kill(new Error('git was ended'))
    await running?.closed
  }

  readonly #onAbort = (): void => this.#process?.kill(this.#signal.reason)

  #start(): GitProcess {
    if (runner === undefined) throw new Error('there is no program that starts git')
    const started = new GitProcess(runner, this.#desk, (bytes) => {
      if (bytes > MAX_MEMORY_BYTES) started.kill(new GitError('', 'too much memory', TOO_MUCH_MEMORY))
    })
    return started
  }
}

/** Has a work done with a git of its own, which ends with it; `desk` answers git's questions for credentials. */
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

const TOO_MUCH_MEMORY = `it takes git more than ${MAX_MEMORY_BYTES / 1024 ** 2} MiB of memory`

/** What git finds in the histories of well-known repositories (git-fsck(1)): how somebody's name, date or a mode is written. */
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

/** Settings of every command: nothing of a repository or of this host may run a program or change what is written. */
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
  // Larger files pass through piece by piece; smaller ones are held whole, a few by each thread.
  ['core.bigFileThreshold', '16m'],
  ['pack.threads', '2'],
  // Half of the objects of a tree are written by a process of their own where they are many.
  ['checkout.workers', '2'],
  // What comes is looked through as it comes, and stays one file, however little it is.
  ['fetch.unpackLimit', '1'],
  ['fetch.fsckObjects', 'true'],
  // Addresses of submodules are judged before they are used.
  ['fetch.fsck.gitmodulesUrl', 'ignore'],
  ...HARMLESS_FAULTS.map((fault) => [`fetch.fsck.${fault}`, 'ignore']),
  // A host that sends less than 1,000 bytes/s for a minute is given up.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`])

/**
 * What git and the programs below it inherit from this process: where programs are, private authorities. Of proxies the gate
 * tells them: an exception for some hosts (NO_PROXY) would lead past what judges them.
 */
const INHERITED = /^(PATH|TMPDIR|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO)$/

function baseEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    ([key, value]) => INHERITED.test(key) && value !== undefined,
  )
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    // Messages are looked through, so they must be in English.
    LC_ALL: 'C.UTF-8',
    // Versions before 2.32 do not know GIT_CONFIG_GLOBAL and look into the home.
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
