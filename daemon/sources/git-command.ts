import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { messageOf } from '#server/errors.ts'

/** More output than this is no answer but an attack: refs of the largest public repositories take about 10 MiB. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024
/** As much of git's own messages as is looked through for the reason of a failure. */
const MAX_MESSAGES_CHARACTERS = 16 * 1024

/** A git command that ended with a failure; `messages` is what it wrote about that. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly messages: string

  constructor(command: string, code: number | string, messages: string) {
    super(`git ${command} ended with ${code}: ${messages.trim()}`)
    this.messages = messages
  }
}

export interface GitCommand {
  arguments: string[]
  environment: Record<string, string>
  signal: AbortSignal
  /** Receives each line of output as it comes, which is then not collected; a throw ends the command. */
  onOutputLine?: (line: string) => void
}

/**
 * Runs git in a process group of its own, which is killed whole when the signal aborts or the output passes its limit.
 * Answers what it wrote. Throws GitError, the signal's reason, or what `onOutputLine` threw.
 */
export async function runGit(command: GitCommand): Promise<string> {
  command.signal.throwIfAborted()
  const child = spawn('git', [...HARMLESS, ...command.arguments], {
    env: { ...baseEnvironment(), ...command.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let stopped: Error | undefined
  const stop = (reason: unknown): void => {
    stopped ??= reason instanceof Error ? reason : new Error(messageOf(reason))
    killGroup(child.pid)
  }
  const onAbort = (): void => stop(command.signal.reason)
  command.signal.addEventListener('abort', onAbort, { once: true })
  let output = ''
  let messages = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages = (messages + text).slice(-MAX_MESSAGES_CHARACTERS)
  })
  if (command.onOutputLine) readLines(child.stdout, command.onOutputLine, stop)
  else {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length > MAX_OUTPUT_BYTES) stop(new GitError(subcommand(command), 'too much output', ''))
    })
  }
  try {
    const code = await new Promise<number | string>((resolve, reject) => {
      child.on('error', (error) => reject(explainStart(error)))
      child.on('close', (exit, killedBy) => resolve(exit ?? killedBy ?? 'no code'))
    })
    if (stopped !== undefined) throw stopped
    if (code !== 0) throw new GitError(subcommand(command), code, messages)
    return output
  } finally {
    command.signal.removeEventListener('abort', onAbort)
  }
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
  // A host that sends less than 1,000 bytes/s for a minute is given up.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`])

/** What git and the programs below it inherit from this process: where programs are, proxies, private authorities. */
const INHERITED =
  /^(PATH|TMPDIR|https?_proxy|HTTPS?_PROXY|all_proxy|ALL_PROXY|no_proxy|NO_PROXY|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO)$/

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
  }
}

function subcommand(command: GitCommand): string {
  return command.arguments.find((argument) => /^[a-z][a-z-]*$/.test(argument)) ?? ''
}

function readLines(
  stream: NodeJS.ReadableStream,
  onLine: (line: string) => void,
  stop: (reason: unknown) => void,
): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', (line) => {
    try {
      onLine(line)
    } catch (error) {
      stop(error)
    }
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

function explainStart(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOENT') return error
  return new Error('git is not installed on this server: install the package "git"', { cause: error })
}
