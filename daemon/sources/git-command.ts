import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { dirname, extname, join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { messageOf } from '#server/errors.ts'
import { lowerPriority } from '../reader/priority.ts'
import { watchMemory } from '../reader/usage.ts'
import type { CredentialDesk } from './credential-desk.ts'
import { GIT_CREDENTIALS_FD, GIT_IS_MISSING } from './git-lifeline.ts'
import { OutputLines, TooMuchOutput, WholeOutput } from './git-output.ts'

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

export interface GitCommand {
  arguments: string[]
  environment: Record<string, string>
  signal: AbortSignal
  /** Answers git's questions for credentials; nothing does without. */
  desk?: CredentialDesk
  /** Receives each line of output as it comes, which is then not collected; a throw ends the command. */
  onOutputLine?: (line: string) => void
}

/**
 * Runs git in a process group of its own, behind what serves. The group is killed whole when the signal aborts, when it
 * takes too much memory or writes too much, and with the server itself.
 * Answers what it wrote. Throws GitError, the signal's reason, or what `onOutputLine` threw.
 */
export async function runGit(command: GitCommand): Promise<string> {
  command.signal.throwIfAborted()
  const child = start(command)
  let stopped: Error | undefined
  const stop = (reason: unknown): void => {
    stopped ??= reason instanceof Error ? reason : new Error(messageOf(reason))
    killGroup(child.pid)
  }
  const onAbort = (): void => stop(command.signal.reason)
  command.signal.addEventListener('abort', onAbort, { once: true })
  const stopWatching = watchMemory(child.pid ?? 0, (bytes) => {
    if (bytes > MAX_MEMORY_BYTES) stop(new GitError(subcommand(command), 'too much memory', TOO_MUCH_MEMORY))
  })
  const output = command.onOutputLine ? new OutputLines(command.onOutputLine) : new WholeOutput()
  let messages = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages = (messages + text).slice(-MAX_MESSAGES_CHARACTERS)
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    try {
      if (!stopped) output.feed(text)
    } catch (error) {
      stop(explainOutput(error, command))
    }
  })
  try {
    const code = await new Promise<number | string>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (exit, killedBy) => resolve(exit ?? killedBy ?? 'no code'))
    })
    if (stopped !== undefined) throw stopped
    if (code === GIT_IS_MISSING)
      throw new Error('git is not installed on this server: install the package "git"')
    if (code !== 0) throw new GitError(subcommand(command), code, messages)
    return output.finish()
  } finally {
    stopWatching()
    command.signal.removeEventListener('abort', onAbort)
  }
}

const TOO_MUCH_MEMORY = `it takes git more than ${MAX_MEMORY_BYTES / 1024 ** 2} MiB of memory`

function start(command: GitCommand): GitProcess {
  if (runner === undefined) throw new Error('there is no program that starts git')
  const child = spawn(process.execPath, [runner, ...HARMLESS, ...command.arguments], {
    env: { ...baseEnvironment(), ...command.environment },
    // The fourth is its lifeline: it closes with this process, however that ends. At the last git asks for credentials.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  lowerPriority(child.pid)
  const questions = child.stdio[GIT_CREDENTIALS_FD] as Duplex
  if (command.desk) command.desk.serve(questions)
  else questions.on('error', () => {}).resume()
  return child as GitProcess
}

type GitProcess = ChildProcessByStdio<null, Readable, Readable>

function explainOutput(error: unknown, command: GitCommand): unknown {
  return error instanceof TooMuchOutput
    ? new GitError(subcommand(command), 'too much output', error.message)
    : error
}

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

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
