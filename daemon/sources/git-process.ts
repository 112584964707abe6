import { spawn, type ChildProcess } from 'node:child_process'
import type { Duplex, Readable } from 'node:stream'
import { randomHex } from '#server/ids.ts'
import { lowerPriority } from '../reader/priority.ts'
import { watchMemory } from '../reader/usage.ts'
import type { CredentialDesk } from './credential-desk.ts'
import { GitError } from './git-error.ts'
import { GIT_CREDENTIALS_FD, type GitOrder } from './git-lifeline.ts'

/** Nobody who writes to a repository can know the random key of a mark, so git's output cannot contain it. */
const KEY_BYTES = 16

/** Receives the two output streams of a command; a throw ends the process. */
export interface GitStreams {
  onOutput(text: string): void
  onMessages(text: string): void
}

/**
 * A process that runs git, one command after another, in a process group of its own and with a low priority. `kill` and the
 * end of the server kill the whole group.
 */
export class GitProcess {
  readonly #child: ChildProcess
  readonly #mark = `\0${randomHex(KEY_BYTES)} `
  readonly #output: MarkedStream
  readonly #messages: MarkedStream
  readonly #ended = Promise.withResolvers<never>()
  /** Why it was killed. */
  #reason: unknown
  /** Resolves when the process and all its descendants are gone. */
  readonly closed: Promise<void>

  /** `onMemory` is called regularly with the memory of git and its descendants. */
  constructor(program: string, desk: CredentialDesk | undefined, onMemory: (bytes: number) => void) {
    this.#child = spawn(process.execPath, [program], {
      // git would use a repository that it finds in its working directory.
      cwd: '/',
      env: {},
      // The fourth is node's channel, which closes with this process, however it ends. git asks for credentials at the last.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
      detached: true,
    })
    lowerPriority(this.#child.pid)
    this.#output = new MarkedStream(this.#child.stdout!, this.#mark, (error) => this.kill(error))
    this.#messages = new MarkedStream(this.#child.stderr!, this.#mark, (error) => this.kill(error))
    const questions = this.#child.stdio[GIT_CREDENTIALS_FD] as Duplex
    if (desk) desk.serve(questions)
    else questions.on('error', () => {}).resume()
    const stopWatching = watchMemory(this.#child.pid ?? 0, onMemory)
    // Between two commands nothing waits for it.
    this.#ended.promise.catch(() => {})
    this.closed = new Promise((resolve) => {
      const onEnd = (how: unknown): void => {
        stopWatching()
        this.#ended.reject(this.#reason ?? how)
        resolve()
      }
      this.#child.once('error', onEnd)
      this.#child.once('exit', () => this.#killGroup())
      this.#child.once('close', (code, by) =>
        onEnd(new GitError('', by ?? code ?? 'no code', 'the process that runs git was ended')),
      )
    })
  }

  /** Runs a command and returns its exit code. Throws the reason of `kill`, or an error that says how the process ended. */
  async run(order: Omit<GitOrder, 'mark'>, streams: GitStreams): Promise<number> {
    const ends = [
      this.#output.until((text) => streams.onOutput(text)),
      this.#messages.until((text) => streams.onMessages(text)),
    ]
    this.#child.send({ ...order, mark: this.#mark } satisfies GitOrder, () => {})
    const [code] = await Promise.race([Promise.all(ends), this.#ended.promise])
    return code!
  }

  /** Kills the process and all its descendants. */
  kill(reason: unknown): void {
    this.#reason ??= reason
    this.#killGroup()
  }

  #killGroup(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
}

/** A stream to which several commands write, one after another, split at the mark after each. */
class MarkedStream {
  readonly #mark: string
  /** Text that may be the beginning of a mark. */
  #held = ''
  #onText: (text: string) => void = () => {}
  #onCode: (code: number) => void = () => {}

  constructor(stream: Readable, mark: string, onFault: (error: unknown) => void) {
    this.#mark = mark
    stream.setEncoding('utf8').on('data', (text: string) => {
      try {
        this.#feed(text)
      } catch (error) {
        onFault(error)
      }
    })
  }

  /** Passes on the text before the next mark; returns the exit code in the mark. */
  until(onText: (text: string) => void): Promise<number> {
    return new Promise((resolve) => {
      this.#onText = onText
      this.#onCode = resolve
    })
  }

  #feed(text: string): void {
    const all = this.#held + text
    const at = this.#startOfMark(all)
    this.#held = all.slice(at)
    if (at > 0) this.#onText(all.slice(0, at))
    const end = this.#held.indexOf('\n')
    if (!this.#held.startsWith(this.#mark) || end < 0) return
    const code = Number(this.#held.slice(this.#mark.length, end))
    this.#held = ''
    this.#onCode(code)
  }

  /** Where a mark begins, or text that may become one; the end if there is neither. */
  #startOfMark(text: string): number {
    const at = text.indexOf(this.#mark)
    if (at >= 0) return at
    const zero = text.lastIndexOf('\0')
    return zero >= 0 && this.#mark.startsWith(text.slice(zero)) ? zero : text.length
  }
}
