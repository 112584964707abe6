import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { takeRandom } from '#server/random.ts'
import { digestOf } from './listener.ts'

const LOOPBACK = '127.0.0.1'
/** An engine pushes a few layers at once. */
const MAX_CONNECTIONS = 64
const USER = 'deployer'
const PASSWORD_BYTES = 32

/** Where the own engine pushes to, and what it shows there. */
export interface PushTarget {
  /** Host and port, which begin the name of an image. */
  host: string
  username: string
  password: string
}

/**
 * The way by which the own engine pushes to the registry: a port of loopback, which any user of this host reaches, so it is only
 * open during a push and asks for a password made for that. Engines need no TLS for a registry on loopback.
 */
export class PushDoor {
  readonly #pass: (request: IncomingMessage, response: ServerResponse) => void
  /** The same each time if it is free: what an engine knows of a registry, it knows by the name. */
  #port = 0

  /** `pass` answers a request that has shown the password. */
  constructor(pass: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#pass = pass
  }

  /** Opens while `work` pushes. One at a time. */
  async during<T>(work: (target: PushTarget) => Promise<T>): Promise<T> {
    const password = takeRandom(PASSWORD_BYTES).toString('base64url')
    const expected = digestOf(`Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`)
    // A large layer takes longer than node waits for a request.
    const door = createServer({ requestTimeout: 0 }, (request, response) => {
      // Digests are compared, so that the time tells nothing about the password.
      if (timingSafeEqual(digestOf(request.headers.authorization ?? ''), expected))
        this.#pass(request, response)
      else refuse(response)
    })
    door.maxConnections = MAX_CONNECTIONS
    try {
      this.#port = await listen(door, this.#port)
      return await work({ host: `${LOOPBACK}:${this.#port}`, username: USER, password })
    } finally {
      door.close()
      door.closeAllConnections()
    }
  }
}

/** Listens at a port, or at any free one if another program has it. Returns the port. */
async function listen(server: Server, wanted: number): Promise<number> {
  try {
    server.listen(wanted, LOOPBACK)
    await once(server, 'listening')
  } catch (error) {
    if (wanted === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return listen(server, 0)
  }
  return (server.address() as AddressInfo).port
}

/** An engine shows the password once it is asked for. */
function refuse(response: ServerResponse): void {
  response
    .writeHead(401, {
      'www-authenticate': 'Basic realm="deployer"',
      'content-length': 0,
      connection: 'close',
    })
    .end()
}
