import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { takeOver } from './attachment.ts'
import type { Connection } from './connection.ts'
import type { ContainerFinder } from './container-finder.ts'
import { KILLED, OOM_REPORTED_MS } from './container-state.ts'

/** The streams of a program end a moment before the engine reports its exit. */
const END_PERIOD_MS = 20
const MAX_END_PERIOD_MS = 1_000
/** The exit code that shells use for a program that cannot be started. */
const NOT_STARTED = 126

/**
 * Docker leaves a terminal at these keys, and cannot be told not to. The first is kept back until the next key: Ctrl-@ sets a
 * mark, which nobody sees before that. The usual ones, Ctrl-P Ctrl-Q, would keep back what a shell's history is read with.
 */
const DETACH_KEYS = Array.from({ length: 16 }, () => 'ctrl-@').join(',')

/** What runs alongside the main program of a container. */
export interface ExecSpec {
  command: string[]
  env?: Record<string, string>
  /** The rows and columns of a terminal of its own; without one its streams are separate. */
  terminal?: [rows: number, cols: number]
}

/** A program that the engine runs in a container ("Exec" in the Engine API). */
export class Exec {
  readonly id: string
  readonly #connection: Connection
  readonly #finder: ContainerFinder
  readonly #container: string
  readonly #doing: string

  private constructor(
    connection: Connection,
    finder: ContainerFinder,
    container: string,
    doing: string,
    id: string,
  ) {
    this.id = id
    this.#connection = connection
    this.#finder = finder
    this.#container = container
    this.#doing = doing
  }

  /** Starts it, and takes the connection to it over. Throws `runtime_error`, or the signal's reason. */
  static async start(
    connection: Connection,
    finder: ContainerFinder,
    container: string,
    { command, env = {}, terminal }: ExecSpec,
    signal: AbortSignal,
  ): Promise<{ exec: Exec; socket: Duplex }> {
    const doing = `running ${command[0]} in ${container}`
    // Engines since API 1.42 know it; others begin with 24 rows of 80.
    const size = terminal === undefined ? {} : { ConsoleSize: terminal }
    const { id } = await connection.call(
      doing,
      (docker, abortSignal) =>
        docker.getContainer(finder.idOf(container)).exec({
          Cmd: command,
          Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
          AttachStdin: true,
          AttachStdout: true,
          AttachStderr: true,
          Tty: terminal !== undefined,
          DetachKeys: DETACH_KEYS,
          ...size,
          abortSignal,
        }),
      { signal },
    )
    const body = { Detach: false, Tty: terminal !== undefined, ...size }
    const socket = await connection.call(
      doing,
      (_, limited) => takeOver(connection.socketPath, `/exec/${id}/start`, limited, body),
      { signal },
    )
    return { exec: new Exec(connection, finder, container, doing, id), socket }
  }

  /** Sets how many rows and columns its terminal has. Throws `runtime_error`. */
  async resize(rows: number, cols: number): Promise<void> {
    await this.#connection.call(this.#doing, (docker, abortSignal) =>
      docker.getExec(this.id).resize({ h: rows, w: cols, abortSignal }),
    )
  }

  /**
   * Waits for its end and returns its exit code; null if it ended with its container. Throws the signal's reason, or
   * `runtime_error` if the engine goes away.
   */
  async end(signal: AbortSignal): Promise<number | null> {
    for (let pauseMs = END_PERIOD_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_END_PERIOD_MS)) {
      const { Running, ExitCode } = await this.#connection.call(
        this.#doing,
        (docker, abortSignal) => docker.getExec(this.id).inspect({ abortSignal }),
        { signal },
      )
      if (!Running && ExitCode !== KILLED) return ExitCode ?? NOT_STARTED
      // Programs are killed with their container, whose end the engine reports a moment later. And an engine that lost track of
      // a program would report it as running forever.
      if (!Running) await delay(OOM_REPORTED_MS, undefined, { signal })
      if ((await this.#finder.find(this.#container))?.State.Running !== true) return null
      if (!Running) return ExitCode
      await delay(pauseMs, undefined, { signal })
    }
  }
}
