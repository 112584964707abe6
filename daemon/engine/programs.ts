import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#server/errors.ts'
import { Attachment, takeOver } from './attachment.ts'
import type { Connection } from './connection.ts'
import { ContainerFinder } from './container-finder.ts'
import type { Ledger } from './ledger.ts'

/** The streams of a program end a moment before the engine tells that it has. */
const END_PERIOD_MS = 20

/** A program that runs in a container beside its own. */
export interface Program {
  readonly streams: Attachment
  /** Waits for its end, whose code it answers. Throws the signal's reason, or `runtime_error` when the engine or the container goes away. */
  end(): Promise<number>
}

/** Programs in this server's containers that run, beside their own; they end with the container at the latest. */
export class Programs {
  readonly #connection: Connection
  readonly #finder: ContainerFinder

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#finder = new ContainerFinder(connection, serverId, ledger)
  }

  /** Starts a program in a container. Throws `runtime_error`, also where the image has no such program. */
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
    const streams = new Attachment(socket)
    signal.addEventListener('abort', () => streams.close(), { once: true })
    return { streams, end: () => this.#end(doing, made.id, signal) }
  }

  async #end(doing: string, id: string, signal: AbortSignal): Promise<number> {
    for (;;) {
      const { Running, ExitCode } = await this.#connection.call(
        doing,
        (docker, abortSignal) => docker.getExec(id).inspect({ abortSignal }),
        { signal },
      )
      if (!Running && ExitCode !== null) return ExitCode
      if (!Running) throw new AppError('runtime_error', `${doing}: it was not started`)
      await delay(END_PERIOD_MS, undefined, { signal })
    }
  }
}
