import type Docker from 'dockerode'
import type { Readable } from 'node:stream'
import { AppError } from '#server/errors.ts'
import { Attachment, takeOver } from './attachment.ts'
import type { Connection } from './connection.ts'
import { createOptions, limitsOf, type ContainerSpec } from './container-spec.ts'
import { engineFault, statusOf } from './faults.ts'
import { jsonLines } from './json-lines.ts'
import { isOwn, labelFilter, ownLabels } from './labels.ts'
import { listenersOf, type Listener } from './listening-ports.ts'
import { LogFrames, type OutputLine } from './log-frames.ts'
import { stateOf, summaryOf, type ContainerState } from './container-state.ts'
import { sampleOf, type ContainerSample } from './stats.ts'

export interface LogOptions {
  /** Only lines of this moment and later, as `ts` of a line or RFC 3339. */
  since?: string
  /** Only the last so many. */
  tail?: number
  /** Goes on with new lines until the container ends. */
  follow?: boolean
  signal: AbortSignal
}

/** Beyond the program's own time to end: the kill, the network and the disk. */
const STOP_SLACK_MS = 60_000
/** Exited containers looked at one by one at the same time, for their exit codes. */
const PARALLEL_INSPECTS = 8

/** The engine's containers, as far as this server made them. */
export class Containers {
  readonly #connection: Connection
  readonly #serverId: string

  constructor(connection: Connection, serverId: string) {
    this.#connection = connection
    this.#serverId = serverId
  }

  /** Makes a container, not started yet, and returns its id. Throws `runtime_error`. */
  async create(spec: ContainerSpec): Promise<string> {
    const options = createOptions(spec, ownLabels(this.#serverId, spec.labels))
    const container = await this.#connection.call(
      `creating the container ${spec.name}`,
      (docker, abortSignal) => docker.createContainer({ ...options, abortSignal }),
    )
    return container.id
  }

  /** Starts a container; one that runs already stays as it is. Throws `runtime_error`. */
  async start(id: string): Promise<void> {
    await this.#tolerate(`starting the container ${id}`, [304], (docker, abortSignal) =>
      docker.getContainer(id).start({ abortSignal }),
    )
  }

  /** Asks the program to end and kills it after `graceSeconds`. One that does not run or is not there stays so. */
  async stop(id: string, graceSeconds: number): Promise<void> {
    await this.#findOwn(id)
    await this.#tolerate(
      `stopping the container ${id}`,
      [304, 404],
      (docker, signal) => docker.getContainer(id).stop({ t: graceSeconds, abortSignal: signal }),
      graceSeconds * 1_000 + STOP_SLACK_MS,
    )
  }

  /** Kills the program at once. One that does not run or is not there stays so. */
  async kill(id: string): Promise<void> {
    const found = await this.#findOwn(id)
    if (!found?.State.Running) return
    await this.#tolerate(`killing the container ${id}`, [404, 409], (docker, abortSignal) =>
      docker.getContainer(id).kill({ abortSignal }),
    )
  }

  /** Removes a container, running or not, with its nameless volumes. One that is not there is fine. */
  async remove(id: string): Promise<void> {
    await this.#findOwn(id)
    // 409: another call removes it already.
    await this.#tolerate(`removing the container ${id}`, [404, 409], (docker, abortSignal) =>
      docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
    )
  }

  /** The state of a container by id or name; null when there is none. */
  async inspect(id: string): Promise<ContainerState | null> {
    const found = await this.#inspect(id)
    return found && stateOf(found)
  }

  /** This server's containers that carry all of the labels, running or not. */
  async list(labels: Record<string, string>): Promise<ContainerState[]> {
    const filters = { label: labelFilter(this.#serverId, labels) }
    const found = await this.#connection.call('listing containers', (docker, abortSignal) =>
      docker.listContainers({ all: true, filters, abortSignal } as Docker.ContainerListOptions),
    )
    const states: ContainerState[] = []
    const rest = [...found]
    const work = async (): Promise<void> => {
      for (let info = rest.shift(); info; info = rest.shift()) {
        const state = info.State === 'running' ? summaryOf(info) : await this.inspect(info.Id)
        if (state) states.push(state)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_INSPECTS }, work))
    return states
  }

  /** A container's output, oldest first, whole lines. Ends with the container or the signal; slow readers slow it down. */
  async *logs(id: string, options: LogOptions): AsyncGenerator<OutputLine> {
    const { signal } = options
    if (signal.aborted) return
    const doing = `reading the output of ${id}`
    const path = `/containers/${id}/logs?`
    const body = await this.#connection
      .stream(doing, { method: 'GET', path, query: logQuery(options), signal })
      .catch((error: unknown) => {
        if (signal.aborted) return null
        throw error
      })
    if (!body) return
    const frames = new LogFrames()
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) yield* frames.push(chunk)
      yield* frames.end()
    } catch (error) {
      if (!signal.aborted) throw engineFault(doing, this.#connection.socketPath, error)
    } finally {
      body.destroy()
    }
  }

  /**
   * The raw streams of a container that is made with `streams` and not started yet. They end with the program or the
   * signal; nothing is lost, since who does not read holds the program back. Throws `runtime_error`.
   */
  async streams(id: string, signal: AbortSignal): Promise<Attachment> {
    const socket = await this.#connection.call(
      `attaching to ${id}`,
      (_, limited) =>
        takeOver(
          this.#connection.socketPath,
          `/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
          limited,
        ),
      { signal },
    )
    const attachment = new Attachment(socket)
    signal.addEventListener('abort', () => attachment.close(), { once: true })
    return attachment
  }

  /** Waits until the program ends. Throws the signal's reason, or `runtime_error` when the container or the engine goes away. */
  async wait(id: string, signal: AbortSignal): Promise<{ exitCode: number; oomKilled: boolean }> {
    const doing = `waiting for ${id}`
    const path = `/containers/${id}/wait`
    const body = await this.#connection.stream(doing, { method: 'POST', path, signal })
    let exitCode: number | undefined
    try {
      for await (const { StatusCode } of jsonLines(body)) exitCode = StatusCode as number
    } catch (error) {
      signal.throwIfAborted()
      throw engineFault(doing, this.#connection.socketPath, error)
    } finally {
      body.destroy()
    }
    if (exitCode === undefined)
      throw new AppError('runtime_error', `${doing}: the container engine went away`)
    const state = await this.inspect(id)
    return { exitCode, oomKilled: state?.oomKilled ?? false }
  }

  /** What a container uses now; takes up to two seconds. Null when it does not run. */
  async stats(id: string, signal: AbortSignal): Promise<ContainerSample | null> {
    try {
      const stats = await this.#connection.call(
        `measuring ${id}`,
        (docker, abortSignal) =>
          docker.getContainer(id).stats({ stream: false, abortSignal } as { stream?: false }),
        { signal },
      )
      return sampleOf(stats)
    } catch (error) {
      if (error instanceof AppError && [404, 409].includes(statusOf(error.cause) ?? 0)) return null
      throw error
    }
  }

  /** Changes the limits of a container in place. Throws `runtime_error` where the engine cannot (Podman before 5). */
  async update(id: string, limits: { memoryBytes: number; cpus: number }): Promise<void> {
    await this.#connection.call(`changing the limits of ${id}`, (docker, abortSignal) =>
      docker.getContainer(id).update({ ...limitsOf(limits), abortSignal }),
    )
  }

  /** What listens inside a container; null when it does not run or cannot be seen from here. */
  async listeners(id: string): Promise<Listener[] | null> {
    const found = await this.#inspect(id)
    return found && found.State.Pid > 0 ? listenersOf(found.State.Pid, found.Id) : null
  }

  /** The TCP ports of a container that can be reached from outside it; null when it does not run or cannot be seen from here. */
  async listeningPorts(id: string): Promise<number[] | null> {
    const listeners = await this.listeners(id)
    return listeners && listeners.filter(({ isLoopback }) => !isLoopback).map(({ port }) => port)
  }

  /** Unpacks a tar stream into a folder of a container. */
  async putArchive(id: string, folder: string, tar: Readable): Promise<void> {
    await this.#connection.call(`copying into ${id}`, (docker, abortSignal) =>
      docker.getContainer(id).putArchive(tar, { path: folder, abortSignal }),
    )
  }

  /** A file or folder of a container as a tar stream; null when there is none of that name. */
  getArchive(id: string, path: string, signal?: AbortSignal): Promise<Readable | null> {
    return this.#connection.find(
      `copying from ${id}`,
      (docker, abortSignal) =>
        docker.getContainer(id).getArchive({ path, abortSignal }) as unknown as Promise<Readable>,
      { signal },
    )
  }

  #inspect(id: string): Promise<Docker.ContainerInspectInfo | null> {
    return this.#connection.find(`looking at the container ${id}`, (docker, abortSignal) =>
      docker.getContainer(id).inspect({ abortSignal } as Docker.ContainerInspectOptions),
    )
  }

  /** Throws when the container is another's. */
  async #findOwn(id: string): Promise<Docker.ContainerInspectInfo | null> {
    const found = await this.#inspect(id)
    if (found && !isOwn(this.#serverId, found.Config.Labels)) {
      throw new AppError('runtime_error', `the container ${id} was not made by this server and is left alone`)
    }
    return found
  }

  async #tolerate(
    doing: string,
    statuses: number[],
    work: (docker: Docker, signal: AbortSignal) => Promise<unknown>,
    timeoutMs?: number,
  ): Promise<void> {
    const tolerant = async (docker: Docker, signal: AbortSignal): Promise<void> => {
      try {
        await work(docker, signal)
      } catch (error) {
        if (!statuses.includes(statusOf(error) ?? 0)) throw error
      }
    }
    await this.#connection.call(doing, tolerant, timeoutMs === undefined ? {} : { timeoutMs })
  }
}

function logQuery({ since, tail, follow }: LogOptions): Record<string, unknown> {
  return {
    stdout: true,
    stderr: true,
    timestamps: true,
    follow: follow ?? false,
    ...(tail === undefined ? {} : { tail }),
    ...(since === undefined ? {} : { since: unixTime(since) }),
  }
}

/** The engine takes seconds with nine digits after the point; a JavaScript number has no room for them. */
function unixTime(timestamp: string): string {
  const seconds = Math.floor(Date.parse(timestamp) / 1_000)
  const fraction = /\.(\d+)/.exec(timestamp)?.[1] ?? ''
  return `${seconds}.${fraction.padEnd(9, '0').slice(0, 9)}`
}
