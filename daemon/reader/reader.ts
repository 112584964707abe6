import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { BuildFailure } from '#plans/index.ts'
import type { Answer, Call, Request } from './call.ts'
import { lowerPriority } from './priority.ts'
import { pump } from './pump.ts'
import { watchUsage, type Usage } from './usage.ts'

/** The heap holds the largest files that are read, some of them twice; what else a call keeps is bounded below. */
const MAX_HEAP_MIB = 256
/** The heap, node itself (45 MiB), and the bytes that are under way. */
const MAX_RESIDENT_BYTES = 384 * 1024 * 1024
/** A young generation of this size collects before a flood of small entries becomes resident memory. */
const YOUNG_GENERATION_MIB = 4
/** As much of what the process wrote about its own end is looked at. */
const MAX_WORDS_CHARACTERS = 4 * 1024

let program: string | undefined

/** Says which file the process runs; once, when the server starts. */
export function provideReaderProgram(file: string): void {
  program = file
}

/**
 * A process that reads a user's files, so that nothing in them can hold up the server or fill its memory. It runs with
 * an empty environment and a low priority, within limits, is ended at once by the signal, by `end` and with the server
 * itself, and answers one call at a time.
 */
export class Reader {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #signal: AbortSignal | undefined
  readonly #stopWatching: () => void
  /** Why it was killed. */
  #reason: unknown
  #hasEnded = false
  #words = ''
  #cpuSeconds = 0
  #asked: { doing: string; settle: PromiseWithResolvers<Answer> } | null = null

  /** Throws the signal's reason when it has aborted already. */
  constructor(signal?: AbortSignal) {
    signal?.throwIfAborted()
    if (program === undefined) throw new Error('there is no program that reads sources')
    this.#signal = signal
    const flags = [`--max-old-space-size=${MAX_HEAP_MIB}`, `--max-semi-space-size=${YOUNG_GENERATION_MIB}`]
    this.#child = spawn(process.execPath, [...flags, program], {
      cwd: '/',
      // It needs none of the server's secrets, nor anything else of its environment.
      env: {},
      // The last is its lifeline: it closes with this process, however that ends.
      stdio: ['pipe', 'pipe', 'pipe', 'ipc', 'pipe'],
    })
    const { pid } = this.#child
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(this.#ended(error)))
      this.#child.once('exit', (code, by) => resolve(this.#ended(by ?? code)))
    })
    this.#child.on('message', (answer: Answer) => this.#settle(answer))
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-MAX_WORDS_CHARACTERS)
    })
    // What is written to a process that has ended; its end says why.
    for (const stream of this.#child.stdio) stream?.on('error', () => {})
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#stopWatching = pid === undefined ? () => {} : watchUsage(pid, (usage) => this.#judge(usage))
    lowerPriority(pid)
  }

  /** What a call writes beside its answer. Its end says nothing of whether all came: the answer does. */
  get output(): Readable {
    return this.#child.stdout!
  }

  /**
   * Makes a call. Throws BuildFailure for faults of the source, and when the call takes more than it may; the signal's
   * reason; or the error that it met.
   */
  async ask<Input, Output>(call: Call<Input, Output>, input: Input): Promise<Output> {
    if (this.#asked) throw new Error(`${call.name} was asked for while ${this.#asked.doing}`)
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
   * Like `ask`, with a stream as the call's input, which is left open. `onBytes` sees what is sent and may throw to end it.
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
    this.#kill(new Error('the reading was ended'))
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
    const doing = this.#asked?.doing ?? 'it waited'
    this.#reason ??= this.#explain(how, doing)
    this.#asked?.settle.reject(this.#reason)
  }

  #explain(how: Error | NodeJS.Signals | number | null, doing: string): Error {
    if (how instanceof Error) return how
    if (this.#words.includes('heap out of memory')) return tooMuch(doing, MEMORY)
    const words = this.#words.trim().split('\n').at(-1) ?? ''
    return new Error(`the process that reads sources ended (${how}) while ${doing}: ${words}`)
  }
}

/** Has a work done with a reader of its own, which ends with it. */
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
  return new BuildFailure(`${doing} takes ${what}: deploy a smaller or plainer source`)
}

function outputOf(answer: Answer): unknown {
  if (answer.kind === 'done') return answer.output
  if (answer.kind === 'source fault') throw new BuildFailure(answer.message)
  const { message, code, stack } = answer
  throw Object.assign(new Error(message), { stack, ...(code === null ? {} : { code }) })
}
