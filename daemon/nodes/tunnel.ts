import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join as joinPath } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type ConnectionOptions } from 'node:tls'
import { join } from '#agent/join.ts'
import { ENGINE_PROTOCOL, type HostAnswer, type Probes, type Reach } from '#agent/protocol.ts'
import { messageOf } from '#server/errors.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '#server/files.ts'
import { cpuPercentOf } from './figures.ts'
import { AgentCalls, Silence, tlsOptions, type AgentAddress } from './agent-calls.ts'

const PAUSE_MS = 300
/** A machine with much to do answers late; one that has said nothing for so long is away. */
const SILENCE_MS = 5_000
/** A connection that breaks or is refused says at once that nobody is there; a single one may be chance. */
const BREAKS = 2
/** An agent that does not listen yet refuses at once: there is no use in asking it as often. */
const RETRY_PAUSE_MS = 1_000
/**
 * For so long a dead tunnel is not given up, since the line may come back, as the kernel knows. Then its connections are cut, and
 * what is asked of it is refused at once.
 */
const GIVE_UP_AFTER_MS = 5_000
/** Over how long the use of the CPUs is measured. */
const CPU_MS = 5_000
/** A probe of the network takes longer than a heartbeat. */
const PROBE_MS = 5_000
const CONNECT_MS = 5_000
const KEEP_ALIVE_MS = 15_000
const MAX_CONNECTIONS = 256

/** What is known of a node's host, and when it was asked. */
interface AskedHost extends HostAnswer {
  askedAt: number
  answeredAt: number
}

/** The engine of a node as a Unix socket on this host, and the line to its agent. */
export class Tunnel {
  readonly socketPath: string
  readonly #address: AgentAddress
  readonly #calls: AgentCalls
  readonly #server: Server
  readonly #open = new Set<Socket>()
  readonly #closing = new AbortController()
  #fault: string | null = 'its agent has not answered yet'
  #deadSince = performance.now()
  #isKnown = false
  #figures: AskedHost | null = null
  #earlier: AskedHost | null = null
  #cpuPercent: number | null = null

  /** `onMove` is called when it dies or comes to life. */
  constructor(folder: string, address: AgentAddress, onMove: () => void) {
    this.#address = address
    this.socketPath = joinPath(folder, address.nodeId, 'engine.sock')
    this.#calls = new AgentCalls(address)
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#take(socket))
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#listen(folder)
    void this.#beat(onMove)
  }

  /** Why the agent does not answer; null while it does. */
  get fault(): string | null {
    return this.#fault
  }

  /** Whether it is known if the agent answers, which takes a moment after a start of the server. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** The last figures of the host; null before the first answer. */
  get figures(): AskedHost | null {
    return this.#figures
  }

  /** How busy its CPUs were a moment ago, 0 to 100; null when that is not known. */
  get cpuPercent(): number | null {
    return this.#cpuPercent
  }

  /** Which of these the node reaches. Throws an Error when its agent does not answer. */
  probe(probes: Probes): Promise<Reach[]> {
    return this.#calls.probe(probes, PROBE_MS)
  }

  close(): void {
    this.#closing.abort()
    this.#server.close()
    this.#cut()
    this.#calls.close()
    rmSync(this.socketPath, { force: true })
  }

  /** Only this user may connect: the folder is closed to others, so nobody can be earlier than the mode of the socket. */
  #listen(folder: string): void {
    makePrivateDirectory(joinPath(folder, this.#address.nodeId))
    rmSync(this.socketPath, { force: true })
    this.#server.listen(this.socketPath, () => chmodSync(this.socketPath, PRIVATE_FILE_MODE))
    this.#server.on('error', (error) => (this.#fault = messageOf(error)))
  }

  #take(socket: Socket): void {
    if (this.#isGivenUp) {
      socket.destroy()
      return
    }
    const options = { ALPNProtocols: [ENGINE_PROTOCOL], allowHalfOpen: true, timeout: CONNECT_MS }
    const far = connect({ ...tlsOptions(this.#address), ...options } as ConnectionOptions)
    far.on('timeout', () => far.destroy()).once('secureConnect', () => far.setTimeout(0))
    far.setKeepAlive(true, KEEP_ALIVE_MS)
    far.setNoDelay(true)
    this.#open.add(socket)
    socket.on('close', () => this.#open.delete(socket))
    join(socket, far)
  }

  get #isGivenUp(): boolean {
    return this.#fault !== null && performance.now() - this.#deadSince > GIVE_UP_AFTER_MS
  }

  #cut(): void {
    for (const socket of this.#open) socket.destroy()
  }

  async #beat(onMove: () => void): Promise<void> {
    const { signal } = this.#closing
    for (let breaks = 0; !signal.aborted;) {
      const askedAt = Date.now()
      let fault: string | null = null
      try {
        const answer = await this.#calls.host(SILENCE_MS)
        this.#note({ ...answer, askedAt, answeredAt: Date.now() })
        breaks = 0
      } catch (error) {
        breaks += error instanceof Silence ? BREAKS : 1
        fault = messageOf(error)
      }
      if (signal.aborted) return
      if (breaks === 0 || breaks >= BREAKS) this.#settle(fault, onMove)
      const pause = breaks > BREAKS ? RETRY_PAUSE_MS : PAUSE_MS
      await delay(pause, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #note(figures: AskedHost): void {
    this.#figures = figures
    if (this.#earlier && figures.answeredAt - this.#earlier.answeredAt < CPU_MS) return
    if (this.#earlier) this.#cpuPercent = cpuPercentOf(this.#earlier, figures)
    this.#earlier = figures
  }

  #settle(fault: string | null, onMove: () => void): void {
    const wasAlive = this.#fault === null
    this.#isKnown = true
    this.#fault = fault
    if (wasAlive && fault !== null) this.#deadSince = performance.now()
    if (this.#isGivenUp) this.#cut()
    if (wasAlive !== (fault === null)) onMove()
  }
}
