import type Docker from 'dockerode'
import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import {
  findControlGroup,
  readControlGroup,
  withoutCache,
  type ControlGroup,
  type Usage,
} from './control-group.ts'
import { statusOf } from './faults.ts'
import { labelFilter } from './labels.ts'
import type { Ledger } from './ledger.ts'

/** A running container, with the name that this server recorded. */
export interface RunningContainer {
  id: string
  name: string
}

/** What a container uses, and what it may use; null means no limit. */
export interface ContainerUsage extends Usage {
  /** CPUs. */
  cpuLimit: number | null
  memoryLimitBytes: number | null
}

/** The facts about a container that do not change. */
interface Known {
  /** Null if it cannot be read; then the engine is asked each time. */
  group: ControlGroup | null
  cpuLimit: number | null
  memoryLimitBytes: number | null
}

/** How long the engine may take to answer. */
interface Limits {
  signal: AbortSignal
  timeoutMs: number
}

const NANO = 1e9

/** Measures this server's containers: from their control groups if those can be read, else by asking the engine. */
export class Usages {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger
  readonly #known = new Map<string, Known>()

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
  }

  /** The running containers. Throws `runtime_error` when the engine does not answer in `timeoutMs`. */
  async running(timeoutMs: number): Promise<RunningContainer[]> {
    const filters = { label: labelFilter(this.#serverId), status: ['running', 'paused'] }
    const found = await this.#connection.call(
      'listing the running containers',
      (docker, abortSignal) => docker.listContainers({ filters, abortSignal } as Docker.ContainerListOptions),
      { timeoutMs },
    )
    const names = new Map(this.#ledger.list('container').map(({ engine_id, name }) => [engine_id, name]))
    const running = found.flatMap(({ Id }) => {
      const name = names.get(Id)
      return name === undefined ? [] : [{ id: Id, name }]
    })
    const ids = new Set(running.map(({ id }) => id))
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id)
    return running
  }

  /**
   * The usage of a container; null when it has ended. Throws `runtime_error` when the engine does not answer in time, or the
   * signal's reason.
   */
  async read({ id, name }: RunningContainer, limits: Limits): Promise<ContainerUsage | null> {
    const known = this.#known.get(id) ?? (await this.#look(id, name, limits))
    if (!known) return null
    const { group, cpuLimit, memoryLimitBytes } = known
    const usage = await (group ? readControlGroup(group).catch(nullWhenGone) : this.#ask(id, name, limits))
    return usage && { ...usage, cpuLimit, memoryLimitBytes }
  }

  async #look(id: string, name: string, limits: Limits): Promise<Known | null> {
    const found = await this.#connection.find(
      `inspecting the container ${name}`,
      (docker, abortSignal) =>
        docker.getContainer(id).inspect({ abortSignal } as Docker.ContainerInspectOptions),
      limits,
    )
    if (!found?.State.Running) return null
    const { Memory, NanoCpus, CpuQuota, CpuPeriod } = found.HostConfig
    const known = {
      group: await findControlGroup(found.State.Pid, id),
      // Podman reports the CPU limit as a quota and a period.
      cpuLimit: NanoCpus ? NanoCpus / NANO : CpuQuota && CpuPeriod ? CpuQuota / CpuPeriod : null,
      memoryLimitBytes: Memory || null,
    }
    this.#known.set(id, known)
    return known
  }

  /** Uses one-shot mode, in which the engine does not wait for a second sample. */
  async #ask(id: string, name: string, limits: Limits): Promise<Usage | null> {
    try {
      const { cpu_stats, memory_stats } = await this.#connection.call(
        `measuring ${name}`,
        (docker, abortSignal) =>
          docker
            .getContainer(id)
            .stats({ stream: false, 'one-shot': true, abortSignal } as { stream?: false }),
        limits,
      )
      if (!cpu_stats.system_cpu_usage || memory_stats.usage === undefined) return null
      // The two versions of control groups name it differently.
      const cache = memory_stats.stats as { total_inactive_file?: number; inactive_file?: number } | undefined
      return {
        cpuSeconds: cpu_stats.cpu_usage.total_usage / NANO,
        memoryBytes: withoutCache(
          memory_stats.usage,
          cache?.total_inactive_file ?? cache?.inactive_file ?? 0,
        ),
      }
    } catch (error) {
      if (error instanceof AppError && [404, 409].includes(statusOf(error.cause) ?? 0)) return null
      throw error
    }
  }
}

function nullWhenGone(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException
  // The group is removed with its last process; a file that was open then fails with ENODEV.
  if (code === 'ENOENT' || code === 'ENODEV') return null
  throw error
}
