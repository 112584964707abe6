import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'
// First, since it has read buffers overwritten after use.
import { RawConnection, waitFor } from './stand.ts'
import { monotonicMs } from '../../proxy/clock.ts'
import type { ListenerSpec, RouteTable } from '../../proxy/protocol.ts'
import { Relay } from '../../proxy/worker/relay.ts'

/** More than the time between two reads of the clock. */
const OVERDUE_MS = 600

/** The connections of a worker in the process of the running test, whose clock stands still until it is moved forward. */
export class OwnRelay {
  readonly relay = new Relay()
  /** Milliseconds. */
  #ahead = 0
  readonly #ports = new Map<ListenerSpec['protocol'], number>()

  static async start(table: RouteTable): Promise<OwnRelay> {
    const own = new OwnRelay()
    onTestFinished(() => own.relay.end())
    // On a busy machine the machine's clock advances by seconds between two steps of a test.
    const [seconds, nanoseconds] = process.hrtime()
    const clock = vi
      .spyOn(process, 'hrtime')
      .mockImplementation(() => [seconds + own.#ahead / 1_000, nanoseconds])
    onTestFinished(() => {
      clock.mockRestore()
    })
    const { routes } = own.relay
    const draft = routes.draft(false)
    draft.add({
      targets: Object.entries(table.targets).map(([key, target]) => [key, JSON.stringify(target)]),
      hosts: Object.entries(table.hosts),
      certificates: Object.entries(table.certificates),
    })
    await routes.swap(draft, table)
    await Promise.all([own.#listen('http'), own.#listen('https')])
    return own
  }

  /** A connection that speaks bytes. */
  raw(): RawConnection {
    const connection = new RawConnection(this.portOf('http'))
    onTestFinished(() => connection.close())
    return connection
  }

  /** On 127.0.0.1 without TLS, on 127.0.0.2 with it. */
  portOf(protocol: ListenerSpec['protocol']): number {
    return this.#ports.get(protocol)!
  }

  /** Lets time pass, as far as the data plane can see: resolves after it has read the clock. */
  async pass(milliseconds: number): Promise<void> {
    this.#ahead += milliseconds
    const passed = monotonicMs()
    await waitFor(
      () => this.relay.now >= passed,
      () => 'the clock does not tick',
    )
    await setImmediate()
  }

  /** Does nothing else for so long that the clock is due; for the data plane it was longer. */
  stall(milliseconds: number): void {
    this.#ahead += milliseconds
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OVERDUE_MS)
  }

  async #listen(protocol: ListenerSpec['protocol']): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.relay.accept(socket, protocol),
    )
    onTestFinished(() => void server.close())
    server.listen(0, protocol === 'http' ? '127.0.0.1' : '127.0.0.2')
    await once(server, 'listening')
    this.#ports.set(protocol, (server.address() as AddressInfo).port)
  }
}
