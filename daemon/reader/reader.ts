import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { BuildFailure } from '#plans/index.ts'
import type { Answer, Call, Request } from './call.ts'
import { lowerPriority } from './priority.ts'
import { pump } from './pump.ts'
import { watchUsage, type Usage } from './usage.ts'

/** The heap must hold the largest files that are read, some of them twice; the rest is bounded below. */
const MAX_HEAP_MIB = 256
/** The heap, node itself (45 MiB), and the bytes in transit. */
const MAX_RESIDENT_BYTES = 384 * 1024 * 1024
/** With a young generation of this size, a flood of small entries is collected before it becomes resident memory. */
const YOUNG_GENERATION_MIB = 4
/** How much of the process's last error output is kept, to explain why it ended. */
const MAX_ERROR_OUTPUT_CHARACTERS = 4 * 1024

let program: string | undefined

/** Sets the file that the process runs; called once, when the server starts. */
export function provideReaderProgram(file: string): void {
  program = file
}

/**
 * A process that reads a user's files, so that nothing in them can block the server or fill its memory. It runs with an
 * empty environment, a low priority and limits, and answers one call at a time. The signal, `end` and the end of the server
 * kill it at once.
 */
export class Reader {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #signal: AbortSignal | undefined
  readonly #stopWatching: () => void
  /** Why it was killed. */
  #reason: unknown
  #hasEnded = false
  #errorOutput = ''
  #cpuSeconds = 0
  #asked: { doing: string; settle: PromiseWithResolvers<Answer> } | null = null

  /** Throws the signal's reason if it has already aborted. */
  constructor(signal?: AbortSignal) {
    signal?.throwIfAborted()
    if (program === undefined) throw new Error('the program that reads sources has not been set')
    this.#signal = signal
    const flags = [`--max-old-space-size=${MAX_HEAP_MIB}`, `--max-semi-space-size=${YOUNG_GENERATION_MIB}`]
    this.#child = spawn(process.execPath, [...flags, program], {
      cwd: '/',
      // It needs nothing from the server's environment, least of all its secrets.
      env: {},
      // The last one is its lifeline: it closes with this process, however this process ends.
      stdio: ['pipe', 'pipe', 'pipe', 'ipc', 'pipe'],
    })
    const { pid } = this.#child
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(this.#ended(error)))
      this.#child.once('exit', (code, by) => resolve(this.#ended(by ?? code)))
    })
    this.#child.on('message', (answer: Answer) => this.#settle(answer))
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-MAX_ERROR_OUTPUT_CHARACTERS)
    })
    // Writing to a process that has ended fails; its exit says why.
    for (const stream of this.#child.stdio) stream?.on('error', () => {})
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#stopWatching = pid === undefined ? () => {} : watchUsage(pid, (usage) => this.#judge(usage))
    lowerPriority(pid)
  }

  /** What a call writes in addition to its answer. Only the answer shows that it is complete, not the end of the stream. */
  get output(): Readable {
    return this.#child.stdout!
  }

  /**
   * Makes a call. Throws BuildFailure for faults in the source and when the call exceeds its limits; the signal's reason; or
   * the call's own error.
   */
  async ask<Input, Output>(call: Call<Input, Output>, input: Input): Promise<Output> {
    if (this.#asked) throw new Error(`${call.name} was requested while ${this.#asked.doing}`)
    if (this.#hasEnded) throw this.#reason
    const settle = Promise.withResolvers<Answer>()
    this.#asked = { doing: call.doing, settle }
    this.#cpuSeconds += call.limits.cpuSeconds
    const { seconds } = call.limits
    const late = (): void => this.#kill(tooMuch(call.doing, `longer than ${seconds} s`))
    const timer = seconds === null ? undefined : setTimeout(late, seconds * 1000)
    try {
      this.#child.send({ call: call.name, input } satisfies Request, () => {})
      return outputOf(await settle.promise) as Output
    } finally {
      clearTimeout(timer)
      this.#asked = null
    }
  }

  /**
   * Like `ask`, with a stream as input in addition, which is left open. `onBytes` sees what is sent and may throw to end it.
   */
  async feed<Input, Output>(
    call: Call<Input, Output>,
    input: Input,
    stream: Readable,
    onBytes: (bytes: Buffer) => void = () => {},
  ): Promise<Output> {
    const answered = this.ask(call, input)
    const feeding = pump(stream, this.#child.stdin!, onBytes)
    try {
      await Promise.race([answered, feeding.done])
      return await answered
    } catch (error) {
      await this.end()
      await answered.catch(() => {})
      throw error
    } finally {
      feeding.detach()
    }
  }

  /** Ends the process and waits until it is gone. */
  async end(): Promise<void> {
    this.#kill(new Error('the source reader was ended'))
    await this.#exited
  }

  readonly #onAbort = (): void => this.#kill(this.#signal?.reason)

  #judge({ cpuSeconds, residentBytes }: Usage): void {
    const doing = this.#asked?.doing ?? 'reading the source'
    if (residentBytes > MAX_RESIDENT_BYTES) this.#kill(tooMuch(doing, MEMORY))
    if (this.#asked && cpuSeconds > this.#cpuSeconds)
      this.#kill(tooMuch(doing, `more than ${this.#cpuSeconds} s of processor time`))
  }

  #kill(reason: unknown): void {
    this.#reason ??= reason
    this.#child.kill('SIGKILL')
  }

  #settle(answer: Answer): void {
    this.#asked?.settle.resolve(answer)
  }

  #ended(how: Error | NodeJS.Signals | number | null): void {
    this.#hasEnded = true
    this.#stopWatching()
    this.#signal?.removeEventListener('abort', this.#onAbort)
    const doing = this.#asked?.doing ?? 'waiting for a call'
    this.#reason ??= this.#explain(how, doing)
    this.#asked?.settle.reject(this.#reason)
  }

  #explain(how: Error | NodeJS.Signals | number | null, doing: string): Error {
    if (how instanceof Error) return how
    if (this.#errorOutput.includes('heap out of memory')) return tooMuch(doing, MEMORY)
    const lastLine = this.#errorOutput.trim().split('\n').at(-1) ?? ''
    return new Error(`the process that reads sources ended (${how}) while ${doing}: ${lastLine}`)
  }
}

/** Runs `work` with a reader of its own, which ends with it. */
export async function withReader<T>(
  signal: AbortSignal | undefined,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  const reader = new Reader(signal)
  try {
    return await work(reader)
  } finally {
    await reader.end()
  }
}

const MEMORY = `more than ${MAX_RESIDENT_BYTES / 1024 ** 2} MiB of memory`

function tooMuch(doing: string, what: string): BuildFailure {
  return new BuildFailure(`${doing} takes ${what}: deploy a smaller or simpler source`)
}

function outputOf(answer: Answer): unknown {
  if (answer.kind === 'done') return answer.output
  if (answer.kind === 'source fault') throw new BuildFailure(answer.message)
  const { message, code, stack } = answer
  throw Object.assign(new Error(message), { stack, ...(code === null ? {} : { code }) })
}
