import { setTimeout as delay } from 'node:timers/promises'
import { Attachment, takeOver } from './attachment.ts'
import type { Connection } from './connection.ts'
import { ContainerFinder } from './container-finder.ts'
import { KILLED } from './container-state.ts'
import type { Ledger } from './ledger.ts'

/** The streams of a program end a moment before the engine reports its exit. */
const END_PERIOD_MS = 20
const MAX_END_PERIOD_MS = 1_000
/** The exit code that shells use for a program that cannot be started. */
const NOT_STARTED = 126

/** A program that runs in a container alongside its main program. */
export interface Program {
  readonly streams: Attachment
  /** Waits for its end and returns its exit code. Throws the signal's reason, or `runtime_error` if the engine goes away. */
  end(): Promise<number>
}

/** Runs further programs in this server's running containers; they end with the container at the latest. */
export class Programs {
  readonly #connection: Connection
  readonly #finder: ContainerFinder

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#finder = new ContainerFinder(connection, serverId, ledger)
  }

  /** Starts a program in a container; a program that the image lacks ends with 126 or 127. Throws `runtime_error`. */
  async start(
    container: string,
    { command, env }: { command: string[]; env: Record<string, string> },
    signal: AbortSignal,
  ): Promise<Program> {
    const doing = `running ${command[0]} in ${container}`
    const made = await this.#connection.call(
      doing,
      (docker, abortSignal) =>
        docker.getContainer(this.#finder.idOf(container)).exec({
          Cmd: command,
          Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
          AttachStdin: true,
          AttachStdout: true,
          AttachStderr: true,
          abortSignal,
        }),
      { signal },
    )
    const socket = await this.#connection.call(
      doing,
      (_, limited) =>
        takeOver(this.#connection.socketPath, `/exec/${made.id}/start`, limited, {
          Detach: false,
          Tty: false,
        }),
      { signal },
    )
    return {
      streams: new Attachment(socket, signal),
      end: () => this.#end(doing, container, made.id, signal),
    }
  }

  async #end(doing: string, container: string, id: string, signal: AbortSignal): Promise<number> {
    for (let pauseMs = END_PERIOD_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_END_PERIOD_MS)) {
      const { Running, ExitCode } = await this.#connection.call(
        doing,
        (docker, abortSignal) => docker.getExec(id).inspect({ abortSignal }),
        { signal },
      )
      if (!Running) return ExitCode ?? NOT_STARTED
      // Programs are killed with their container, but an engine that lost track of one would report it as running forever.
      if ((await this.#finder.find(container))?.State.Running !== true) return KILLED
      await delay(pauseMs, undefined, { signal })
    }
  }
}
