import { Attachment } from './attachment.ts'
import type { Connection } from './connection.ts'
import { ContainerFinder } from './container-finder.ts'
import { KILLED } from './container-state.ts'
import { Exec } from './execs.ts'
import type { Ledger } from './ledger.ts'
import { openTerminal, type Terminal, type TerminalSpec } from './terminal.ts'

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
    const started = await Exec.start(this.#connection, this.#finder, container, { command, env }, signal)
    return {
      streams: new Attachment(started.socket, signal),
      end: async () => (await started.exec.end(signal)) ?? KILLED,
    }
  }

  /**
   * Starts a program with a terminal of its own, which ends with the connection to it; null if the image has no `/bin/sh`,
   * which that takes. Throws `runtime_error`.
   */
  openTerminal(container: string, spec: TerminalSpec): Promise<Terminal | null> {
    return openTerminal(this.#connection, this.#finder, container, spec)
  }
}
