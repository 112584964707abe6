import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../control/ask.ts'
import { ChannelError, connectChannel, type Channel } from '../control/channel.ts'
import { controlSocketFile, olderControlSocketFile } from '../control/paths.ts'
import type { RouteTable, SupervisorSettings } from '../protocol.ts'
import { spawnSupervisor, type HeldSocket } from '../spawn.ts'
import type { TicketKeysMessage } from './ticket-keys.ts'

/** How long a successor has to start its workers and take over. */
const UPGRADE_MS = 30_000
const HANDOVER_MS = 10_000

/** The program that should replace this one. */
export interface UpgradeOrder {
  node: string
  program: string
  version: string
  workers: number
}

/** The old supervisor's side of its replacement: starts the successor and waits until it takes over. */
export class Succession {
  #taken: (() => void) | null = null

  /** Starts another program to replace this one; resolves when it takes over. Throws `ChannelError`. */
  async upgrade(order: UpgradeOrder, settings: SupervisorSettings, sockets: HeldSocket[]): Promise<null> {
    const { node, program, version, workers } = order
    const own = { ...settings, version, workers, inherited: [], successor: true }
    const child = spawnSupervisor(node, program, own, sockets)
    const failed = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(`it exited with ${signal ?? code}`))
    })
    const taken = new Promise<null>((resolve) => (this.#taken = () => resolve(null)))
    const late = sleep(UPGRADE_MS, 'it did not take over in time', { ref: false })
    const fault = await Promise.race([taken, failed, late])
    this.#taken = null
    if (fault === null) return null
    child.kill('SIGKILL')
    throw new ChannelError(
      'failed',
      `the new data plane program could not take over: ${fault}; see proxy/proxy.log`,
    )
  }

  /** Throws unless an upgrade is under way. */
  expect(): void {
    if (!this.#taken) throw new ChannelError('failed', 'no upgrade is under way')
  }

  /** The successor has taken over. */
  done(): void {
    this.#taken?.()
  }
}

/** The successor's side: the supervisor that it replaces. */
export class Predecessor {
  #channel: Channel

  private constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Returns the supervisor that runs in the data directory; null if there is none. */
  static async find(dataDirectory: string): Promise<Predecessor | null> {
    for (const file of [controlSocketFile(dataDirectory), olderControlSocketFile(dataDirectory)])
      try {
        return new Predecessor(await connectChannel(file, () => null))
      } catch {
        // No supervisor listens there.
      }
    return null
  }

  /** Returns its keys of TLS session tickets; null if it is an older program without them. */
  async ticketKeys(serverId: string): Promise<TicketKeysMessage | null> {
    await ask(this.#channel, 'attach', { server_id: serverId, workers: 0 }, HANDOVER_MS)
    try {
      return await ask(this.#channel, 'ticket_keys', {}, HANDOVER_MS)
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'unknown') return null
      throw error
    }
  }

  /** Makes it end and leave its workers; returns its table. */
  async takeOver(): Promise<RouteTable | null> {
    const { table } = await ask(this.#channel, 'handover', {}, HANDOVER_MS)
    this.#channel.close()
    return table
  }
}
