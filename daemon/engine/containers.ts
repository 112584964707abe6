import type Docker from 'dockerode'
import { finished, PassThrough, type Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#server/errors.ts'
import type { AbilityTrial } from './abilities.ts'
import type { Connection } from './connection.ts'
import { ContainerFinder } from './container-finder.ts'
import { createOptions, limitsOf, type ContainerSpec } from './container-spec.ts'
import {
  nameOf,
  stateOf,
  summaryOf,
  volumesOf,
  type ContainerState,
  type RunningContainer,
} from './container-state.ts'
import { EngineAway, engineFault, statusOf } from './faults.ts'
import { jsonLines } from './json-lines.ts'
import { labelFilter, ownLabels, withoutClaims } from './labels.ts'
import type { Ledger } from './ledger.ts'
import { listenersOf, type Listener } from './listening-ports.ts'
import { namespaceOf } from './network-namespace.ts'
import type { Networks } from './networks.ts'

/** Time for the kill, the network and the disk, after the time that the program has to end. */
const STOP_SLACK_MS = 60_000
/** The pause between two stop signals, where more than one is sent. */
const SIGNAL_AGAIN_MS = 1_000
/** A removal takes less than a second; on a busy disk a few. */
const GONE_WITHIN_MS = 30_000
const GONE_PERIOD_MS = 50
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** How many exited containers are inspected at the same time, for their exit codes. */
const PARALLEL_INSPECTS = 8

/** This server's containers in the engine. Names are those that the server recorded. */
export class Containers {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger
  readonly #trial: AbilityTrial
  readonly #networks: Networks
  readonly #finder: ContainerFinder

  constructor(
    connection: Connection,
    serverId: string,
    ledger: Ledger,
    trial: AbilityTrial,
    networks: Networks,
  ) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
    this.#trial = trial
    this.#networks = networks
    this.#finder = new ContainerFinder(connection, serverId, ledger)
  }

  /** Creates a container without starting it, and returns its id. Throws `runtime_error`. */
  async create(spec: ContainerSpec): Promise<string> {
    const doing = `creating the container ${spec.name}`
    const ofImage = await this.#connection.find(doing, (docker, abortSignal) =>
      docker.getImage(spec.image).inspect({ abortSignal } as Docker.ImageInspectOptions),
    )
    const labels = {
      ...withoutClaims(ofImage?.Config.Labels ?? {}),
      ...ownLabels(this.#serverId, spec.labels),
    }
    const options = createOptions(spec, labels, await this.#trial.known())
    const id = await this.#create(doing, spec.name, options)
    await this.#join(id, spec)
    return id
  }

  async #create(doing: string, name: string, options: Docker.ContainerCreateOptions): Promise<string> {
    const former = this.#ledger.find('container', name)
    this.#ledger.record('container', name)
    try {
      const { id } = await this.#connection.call(doing, (docker, abortSignal) =>
        docker.createContainer({ ...options, abortSignal }),
      )
      this.#ledger.record('container', name, id)
      return id
    } catch (error) {
      // The name is in use, so nothing was created: the former record is still right.
      if (former && statusOf((error as Error).cause) === 409)
        this.#ledger.record('container', name, former.engine_id)
      throw error
    }
  }

  /** Joins a new container to its further networks: engines before API 1.44 take only one when they create it. */
  async #join(id: string, { name, joined = [] }: ContainerSpec): Promise<void> {
    try {
      for (const { network, address } of joined) await this.#networks.connect(network, id, address)
    } catch (error) {
      await this.remove(name)
      throw error
    }
  }

  /** Starts a container, if it is not running. Throws `runtime_error`. */
  async start(name: string): Promise<void> {
    await this.#tolerate(`starting the container ${name}`, [304], (docker, abortSignal) =>
      docker.getContainer(this.#finder.idOf(name)).start({ abortSignal }),
    )
  }

  /**
   * Sends the program its stop signal and kills it after `graceSeconds`. Does nothing if the container does not run or does
   * not exist. With `again` the signal is sent every second, since a shell as entry point loses a SIGINT that arrives while
   * it waits for another program (bash(1), "SIGNALS"). Not for programs that end at once on a second signal.
   */
  async stop(name: string, graceSeconds: number, { again = false } = {}): Promise<void> {
    const found = await this.#finder.findOwn(name)
    if (!found) return
    // A frozen program would not see the signal.
    if (found.State.Paused) await this.#unpause(name, found.Id)
    const asking = new AbortController()
    const asked = again ? this.#askAgain(name, found, asking.signal) : null
    try {
      await this.#tolerate(
        `stopping the container ${name}`,
        [304, 404],
        (docker, signal) => docker.getContainer(found.Id).stop({ t: graceSeconds, abortSignal: signal }),
        graceSeconds * 1_000 + STOP_SLACK_MS,
      )
    } finally {
      asking.abort()
      await asked
    }
  }

  async #askAgain(
    name: string,
    { Id, Config }: Docker.ContainerInspectInfo,
    until: AbortSignal,
  ): Promise<void> {
    const signal = (Config as { StopSignal?: string }).StopSignal || 'SIGTERM'
    while (await delay(SIGNAL_AGAIN_MS, true, { signal: until }).catch(() => false)) {
      const ask = (docker: Docker, abortSignal: AbortSignal): Promise<unknown> =>
        docker.getContainer(Id).kill({ signal, abortSignal })
      // The program may have ended. Any other reason fails the stop too, which reports it.
      await this.#connection.call(`stopping the container ${name}`, ask, { signal: until }).catch(() => {})
    }
  }

  /** Kills the program at once. Does nothing if the container does not run or does not exist. */
  async kill(name: string): Promise<void> {
    const found = await this.#finder.findOwn(name)
    if (!found?.State.Running) return
    if (found.State.Paused) await this.#unpause(name, found.Id)
    await this.#tolerate(`killing the container ${name}`, [404, 409], (docker, abortSignal) =>
      docker.getContainer(found.Id).kill({ abortSignal }),
    )
  }

  /** Removes a container, running or not, with its anonymous volumes, if it exists. Throws `runtime_error`. */
  async remove(name: string): Promise<void> {
    const found = await this.#finder.findOwn(name)
    if (found) {
      const doing = `removing the container ${name}`
      // 409: another client is already removing it.
      await this.#tolerate(doing, [404, 409], (docker, abortSignal) =>
        docker.getContainer(found.Id).remove({ force: true, v: true, abortSignal }),
      )
      await this.#untilGone(doing, found.Id)
    }
    this.#ledger.forget('container', name)
  }

  /** Waits until a container is gone, since its name, its address and its volumes are in use until then. */
  async #untilGone(doing: string, id: string): Promise<void> {
    for (
      const began = performance.now();
      performance.now() - began < GONE_WITHIN_MS;
      await delay(GONE_PERIOD_MS)
    )
      if ((await this.#finder.find(id)) === null) return
    throw new AppError('runtime_error', `${doing}: another client is removing it, and has not finished`)
  }

  /** The state of a container by name or id; null when there is none. */
  async inspect(name: string): Promise<ContainerState | null> {
    const found = await this.#finder.findSettled(name)
    return found && stateOf(found)
  }

  /** This server's containers that have all of the labels, running or not, by the names that it recorded. */
  async list(labels: Record<string, string>): Promise<ContainerState[]> {
    const rest = await this.#listed({ label: labelFilter(this.#serverId, labels) }, true)
    const states: ContainerState[] = []
    const work = async (): Promise<void> => {
      for (let next = rest.shift(); next; next = rest.shift()) {
        const { info, name } = next
        if (name === undefined) continue
        const state = info.State === 'running' ? summaryOf(info) : await this.inspect(name)
        if (state) states.push({ ...state, name })
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_INSPECTS }, work))
    return states
  }

  /** Every container with this server's label that runs, whether it is recorded or not, by its name in the engine. */
  async running(): Promise<RunningContainer[]> {
    const found = await this.#listed({ label: labelFilter(this.#serverId) }, false)
    return found.map(({ info, name }) => ({
      state: summaryOf(info),
      isRecorded: name !== undefined,
      volumes: volumesOf(info),
      createdAt: info.Created,
    }))
  }

  /** The running containers that use a volume and have this server's label, by name, and whether each is recorded. */
  async runningUsers(volume: string): Promise<{ name: string; isRecorded: boolean }[]> {
    const found = await this.#listed({ label: labelFilter(this.#serverId), volume: [volume] }, false)
    return found.map(({ info, name }) => ({ name: name ?? nameOf(info), isRecorded: name !== undefined }))
  }

  /** The engine's containers, each with the name that was recorded for it, if any. */
  async #listed(
    filters: Record<string, string[]>,
    all: boolean,
  ): Promise<{ info: Docker.ContainerInfo; name: string | undefined }[]> {
    const found = await this.#connection.call('listing containers', (docker, abortSignal) =>
      docker.listContainers({ all, filters, abortSignal } as Docker.ContainerListOptions),
    )
    const names = new Map(
      this.#ledger.list('container').map((thing) => [thing.engine_id ?? thing.name, thing.name]),
    )
    return found.map((info) => ({ info, name: names.get(info.Id) ?? names.get(nameOf(info)) }))
  }

  /** Waits until the program ends. Throws the signal's reason, or `runtime_error` when container or engine go away. */
  async wait(name: string, signal: AbortSignal): Promise<{ exitCode: number; oomKilled: boolean }> {
    const doing = `waiting for ${name}`
    const path = `/containers/${this.#finder.idOf(name)}/wait`
    const body = await this.#connection.stream(doing, { method: 'POST', path, signal })
    let exitCode: number | undefined
    try {
      for await (const { StatusCode } of jsonLines(body)) exitCode = StatusCode as number
    } catch (error) {
      signal.throwIfAborted()
      throw engineFault(doing, this.#connection.place, error)
    } finally {
      body.destroy()
    }
    if (exitCode === undefined) throw new EngineAway(`${doing}: the container engine went away`)
    const state = await this.inspect(name)
    return { exitCode, oomKilled: state?.oomKilled ?? false }
  }

  /**
   * Changes the limits of a container in place. Not for an instance, whose settings must stay as recorded: it would be
   * created again. Throws `runtime_error` if the engine cannot do it (Podman before 5).
   */
  async update(name: string, limits: { memoryBytes: number; cpus: number }): Promise<void> {
    const changed = limitsOf(limits, await this.#trial.known())
    await this.#connection.call(`changing the limits of ${name}`, (docker, abortSignal) =>
      docker.getContainer(this.#finder.idOf(name)).update({ ...changed, abortSignal }),
    )
  }

  /** The sockets that listen inside a container; null when it does not run or cannot be inspected from here. */
  async listeners(name: string): Promise<Listener[] | null> {
    const found = await this.#finder.find(name)
    return found && found.State.Pid > 0 ? listenersOf(found.State.Pid, found.Id) : null
  }

  /** The file of a container's network namespace; null when it does not run or cannot be entered from here. */
  async networkNamespace(name: string): Promise<string | null> {
    const found = await this.#finder.find(name)
    return found && found.State.Pid > 0 ? namespaceOf(found.State.Pid, found.Id) : null
  }

  /**
   * Unpacks a tar stream, which may be gzipped, into a folder of a container. With `keepsFolders`, a file that would replace
   * a folder is an error. A caller that gives a signal limits the time itself. Throws `runtime_error`, or the signal's reason.
   */
  async putArchive(
    name: string,
    folder: string,
    tar: Readable,
    { signal, keepsFolders = false }: { signal?: AbortSignal; keepsFolders?: boolean } = {},
  ): Promise<void> {
    await this.#connection.call(
      `copying into ${name}`,
      (docker, abortSignal) =>
        docker.getContainer(this.#finder.idOf(name)).putArchive(tar, {
          path: folder,
          ...(keepsFolders && { noOverwriteDirNonDir: '1' }),
          abortSignal,
        }),
      signal ? { signal, timeoutMs: MAX_TIMER_MS } : {},
    )
  }

  /** A file or folder of a container as a tar stream; null when it does not exist. */
  async getArchive(name: string, path: string, signal?: AbortSignal): Promise<Readable | null> {
    const doing = `copying from ${name}`
    const body = await this.#connection.find(
      doing,
      (docker, abortSignal) =>
        docker
          .getContainer(this.#finder.idOf(name))
          .getArchive({ path, abortSignal }) as unknown as Promise<Readable>,
      { signal },
    )
    if (!body) return null
    const archive = new PassThrough()
    finished(body, (error) => {
      if (!error) return
      const fault = engineFault(doing, this.#connection.place, error)
      archive.destroy(signal?.aborted ? (signal.reason as Error) : fault)
    })
    return body.pipe(archive.once('close', () => body.destroy()))
  }

  #unpause(name: string, id: string): Promise<void> {
    // 409, 500: it is no longer paused.
    return this.#tolerate(`unpausing the container ${name}`, [404, 409, 500], (docker, abortSignal) =>
      docker.getContainer(id).unpause({ abortSignal }),
    )
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
