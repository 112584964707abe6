import { createServer, Socket, type Server } from 'node:net'

/** More connections than a datastore takes: those beyond are closed at once. */
const MAX_CONNECTIONS = 1_024
/** An overlay to a node that is gone swallows what is sent there. */
const CONNECT_MS = 10_000
/** Finds peers that vanished without a word, however long nothing is sent. */
const KEEP_ALIVE_MS = 60_000

export interface Target {
  host: string
  port: number
}

/** Passes connections on to another address, which may change for those to come. */
export class Forward {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  target: Target

  /** `onFault` hears why it does not listen. */
  constructor(listen: Target, target: Target, onFault: (error: Error) => void) {
    this.target = target
    // A client that has sent everything may still wait for the answer.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#pass(client))
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#server.on('error', onFault).listen(listen)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(client: Socket): void {
    const datastore = new Socket({ allowHalfOpen: true })
    this.#keep(client, datastore)
    this.#keep(datastore, client)
    const late = setTimeout(() => datastore.destroy(new Error('it does not answer')), CONNECT_MS)
    datastore.once('close', () => clearTimeout(late))
    datastore.connect(this.target, () => clearTimeout(late))
    client.pipe(datastore)
    datastore.pipe(client)
  }

  /** What one side ends, `pipe` ends on the other; what breaks here is broken there. */
  #keep(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('error', () => other.destroy())
    socket.once('close', () => this.#sockets.delete(socket))
  }
}
