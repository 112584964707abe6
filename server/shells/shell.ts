import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { schedule } from '../options/schedule.ts'
import { sameSecret } from '../secrets.ts'
import { ShellMessage } from './schema.ts'

/** The largest message to the client. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** What may wait for a slow connection before the program's output is read no further. */
const HELD_BYTES = 256 * 1024
/** What a client that counts what it has shown may be behind: a browser takes everything, however slowly it draws. */
const UNSHOWN_BYTES = 512 * 1024
/** How long a client has to take the last output, and to answer that the shell is closed. */
const LAST_OUTPUT_MS = 30_000
const GOODBYE_MS = 1_000
/** A reason has at most 123 bytes (RFC 6455 section 5.5). */
const MAX_REASON_BYTES = 123

/** Why a shell closes (RFC 6455 section 7.4.1). */
export const CLOSE = { ended: 1000, goingAway: 1001, notUnderstood: 1007, notAllowed: 1008 } as const
type CloseCode = (typeof CLOSE)[keyof typeof CLOSE]

/** A program with a terminal. */
export interface ShellProgram {
  /** What is typed and what is printed. It ends with the program. */
  readonly stream: Duplex
  resize(rows: number, cols: number): Promise<void>
  /** Waits for its end and returns its exit code; null if it ended with its container. Throws if the engine goes away. */
  end(): Promise<number | null>
  /** Ends it, and removes what exists only for it. */
  close(): Promise<void>
  /** Why it can no longer run; null while it can. After its end it may be asked why it ended. */
  fault(hasEnded: boolean): string | null
}

/** How a shell ended. */
export interface ShellEnd {
  reason: string
  exitCode: number | null
}

/**
 * Passes bytes between a program and the client that the ticket lets in, both ways and in order, until either leaves. What is
 * held for a slow side is bounded.
 */
export class Shell {
  readonly #program: ShellProgram
  readonly #onEnd: (end: ShellEnd) => void
  /** Null once it was used. */
  #ticket: string | null
  #client: WebSocket | null = null
  #isOver = false
  /** How many bytes were sent to the client, and how many of them it says that it has shown; null if it does not count. */
  #sent = 0
  #shown: number | null = null
  /** Whether the client gave a sign of life since the last probe. */
  #isAlive = true
  /** The size that the terminal should have, while it is being changed. */
  #size: readonly [number, number] | null = null
  readonly #late: NodeJS.Timeout
  readonly #idle: NodeJS.Timeout
  readonly #timers: NodeJS.Timeout[]

  constructor(program: ShellProgram, ticket: string, onEnd: (end: ShellEnd) => void) {
    this.#program = program
    this.#ticket = ticket
    this.#onEnd = onEnd
    const { shellTicketMs, shellIdleMs, shellLastsMs, tunnelProbeEveryMs } = schedule
    const lapse = (ms: number, reason: string) => setTimeout(() => this.end(CLOSE.notAllowed, reason), ms)
    this.#late = lapse(shellTicketMs, 'the ticket was not used in time')
    this.#idle = lapse(shellIdleMs, `nothing was typed or printed for ${durationOf(shellIdleMs)}`)
    this.#timers = [
      this.#late,
      this.#idle,
      lapse(shellLastsMs, `it was open for ${durationOf(shellLastsMs)}, the longest that a shell may be`),
      setInterval(() => this.#probe(), tunnelProbeEveryMs),
    ]
  }

  /** Takes the ticket, which is valid once. Returns whether it is the right one. */
  claim(ticket: string): boolean {
    if (this.#isOver || this.#ticket === null || !sameSecret(this.#ticket, ticket)) return false
    this.#ticket = null
    clearTimeout(this.#late)
    return true
  }

  /** Connects the client. Resolves when its connection has closed. */
  async attach(client: WebSocket): Promise<void> {
    const { stream } = this.#program
    this.#client = client
    client.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary))
    client.on('pong', () => (this.#isAlive = true))
    // Its close follows, with the code that the fault has.
    client.on('error', () => {})
    const closed = new Promise<void>((resolve) => client.once('close', resolve))
    client.once('close', () => this.end(CLOSE.ended, 'the client left'))
    stream.on('drain', () => client.resume())
    stream.on('data', (bytes: Buffer) => this.#send(bytes))
    for (const event of ['end', 'close', 'error']) stream.once(event, () => void this.#programEnded())
    // The connection may have ended before anybody listened.
    if (stream.destroyed) void this.#programEnded()
    await closed
  }

  /** Looks whether the program may still run, after something has changed. */
  check(): void {
    const fault = this.#program.fault(false)
    if (fault !== null) this.end(CLOSE.goingAway, fault)
  }

  /** Closes it: the client gets the reason, and the program ends. */
  end(code: CloseCode, reason: string, exitCode: number | null = null): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const timer of this.#timers) clearTimeout(timer)
    const client = this.#client
    if (client) {
      const hasOutput = exitCode !== null
      const close = () => client.close(code, shortened(reason))
      // A close must be answered in time, while a slow client may take long to read what was sent before it.
      if (hasOutput) client.send(JSON.stringify({ exit_code: exitCode }), close)
      else close()
      // The client's answer comes after everything that it has sent.
      client.resume()
      const timer = setTimeout(() => client.terminate(), hasOutput ? LAST_OUTPUT_MS : GOODBYE_MS)
      client.once('close', () => clearTimeout(timer))
    }
    this.#onEnd({ reason, exitCode })
  }

  async #programEnded(): Promise<void> {
    if (this.#isOver) return
    let exitCode: number | null = null
    let why = 'its container has stopped'
    try {
      exitCode = await this.#program.end()
    } catch {
      why = 'the container engine went away'
    }
    const fault = this.#program.fault(true)
    if (fault !== null || exitCode === null) this.end(CLOSE.goingAway, fault ?? why)
    else this.end(CLOSE.ended, `the program ended with exit code ${exitCode}`, exitCode)
  }

  #receive(data: Buffer, isBinary: boolean): void {
    // It is closing already, and the client has not seen that yet.
    if (this.#isOver) return
    this.#isAlive = true
    if (!isBinary) return this.#obey(data.toString('utf8'))
    this.#idle.refresh()
    const { stream } = this.#program
    // A program can close its terminal and go on.
    if (stream.writable && !stream.write(data)) this.#client!.pause()
  }

  #obey(text: string): void {
    const message = ShellMessage.safeParse(parsed(text)).data
    if (!message)
      return this.end(
        CLOSE.notUnderstood,
        'a text must be {"resize": [rows, cols]}, each 1 to 1000, or {"ack": bytes}',
      )
    if ('ack' in message) {
      this.#shown = message.ack
      this.#flow()
    } else void this.#resize(message.resize)
  }

  /** Gives the terminal the newest of the sizes that were asked for meanwhile. */
  async #resize(size: readonly [number, number]): Promise<void> {
    const isChanging = this.#size !== null
    this.#size = size
    if (isChanging) return
    for (let wanted = size; ; wanted = this.#size) {
      // The program may be ending.
      await this.#program.resize(...wanted).catch(() => {})
      if (this.#size === wanted) break
    }
    this.#size = null
  }

  #send(bytes: Buffer): void {
    if (this.#isOver) return
    this.#idle.refresh()
    for (let at = 0; at < bytes.length; at += MAX_MESSAGE_BYTES) {
      this.#client!.send(bytes.subarray(at, at + MAX_MESSAGE_BYTES), () => {
        this.#isAlive = true
        this.#flow()
      })
    }
    this.#sent += bytes.length
    this.#flow()
  }

  /** Reads the program's output only as long as the client keeps up. */
  #flow(): void {
    const { stream } = this.#program
    const isBehind = this.#shown !== null && this.#sent - this.#shown > UNSHOWN_BYTES
    if (this.#isOver || stream.destroyed) return
    if (isBehind || this.#client!.bufferedAmount > HELD_BYTES) stream.pause()
    else if (stream.isPaused()) stream.resume()
  }

  /**
   * Closes a connection whose client gives no sign of life. While the program is slow, what a client sends is not read, its
   * goodbye neither: that it is gone then shows in what is sent to it.
   */
  #probe(): void {
    const client = this.#client
    if (!client) return
    if (!this.#isAlive && !client.isPaused) return client.terminate()
    this.#isAlive = client.isPaused
    if (client.readyState === WebSocket.OPEN) client.ping()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function shortened(reason: string): string {
  return Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString().replace(/�$/, '')
}

function durationOf(ms: number): string {
  const minutes = ms / 60_000
  return minutes < 60 ? `${minutes} minutes` : `${minutes / 60} hours`
}
