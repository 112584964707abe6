import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { ChannelError } from '../control/channel.ts'
import { log } from '../log.ts'
import type { BoundListener, ListenerSpec, WireError } from '../protocol.ts'
import type { HeldSocket } from '../spawn.ts'

/** Max connections that wait to be accepted; the kernel caps it at net.core.somaxconn (4096 by default). */
const BACKLOG = 4_096

type Protocol = ListenerSpec['protocol']

/** The inherited listening sockets of one worker, used from the first table on. */
export class Listeners {
  readonly #sockets: readonly HeldSocket[]
  readonly #accept: (socket: Socket, protocol: Protocol) => void
  #servers: Server[] = []
  #bound: BoundListener[] | null = null
  /** The protocol of each address in the table; a change applies to connections accepted after it. */
  #protocols = new Map<string, Protocol>()

  constructor(sockets: readonly HeldSocket[], accept: (socket: Socket, protocol: Protocol) => void) {
    this.#sockets = sockets
    this.#accept = accept
  }

  /** The open listeners; none before `open`. */
  get bound(): BoundListener[] {
    return this.#bound ?? []
  }

  /** The port of the first open `https` listener. */
  get securePort(): number | null {
    for (const [address, protocol] of this.#protocols) {
      const bound = protocol === 'https' && this.bound.find((listener) => listener.address === address)
      if (bound) return bound.port
    }
    return null
  }

  /** Takes the protocols of the addresses from a table. */
  apply(specs: readonly ListenerSpec[]): void {
    this.#protocols = new Map(specs.map(({ address, protocol }) => [address, protocol]))
  }

  /** Starts to accept; later calls do nothing. Throws `ChannelError`. */
  async open(): Promise<void> {
    this.#bound ??= await Promise.all(this.#sockets.map((socket) => this.#listen(socket)))
  }

  /** Stops accepting. */
  close(): void {
    for (const server of this.#servers.splice(0)) server.close()
  }

  #listen({ address, fd }: HeldSocket): Promise<BoundListener> {
    return new Promise((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
        this.#accept(socket, this.#protocols.get(address) ?? 'http'),
      )
      server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, address)))
      server.listen({ fd }, BACKLOG, () => {
        server.on('error', (error) => log('error', 'a listener failed', { address, error: error.message }))
        const { address: host, port } = server.address() as AddressInfo
        resolve({ address, host, port })
      })
      this.#servers.push(server)
    })
  }
}

function listenError(error: NodeJS.ErrnoException, address: string): ChannelError {
  const code = error.code === 'EADDRINUSE' || error.code === 'EACCES' ? error.code : 'listen_failed'
  return new ChannelError(code satisfies WireError['code'], `${address}: ${error.message}`, address)
}
