import { latin1, type Head } from './head.ts'
import { hostName, type Routes, type TargetRoute } from './routes.ts'

const NO_BYTES = new Uint8Array(0)

/** Where the requests of a connection lead: looked up anew when the host or the table is another. */
export class Destination {
  target: TargetRoute | null = null
  /** There is a certificate for the host. */
  secured = false
  #host: Uint8Array = NO_BYTES
  #epoch = -1

  /** Finds the target of the request whose head was read from `input`. */
  find(routes: Routes, { hostStart, hostEnd }: Head, input: Buffer): TargetRoute | null {
    const host = this.#host
    let same = this.#epoch === routes.epoch && host.length === hostEnd - hostStart
    for (let index = 0; same && index < host.length; index++) same = host[index] === input[hostStart + index]
    if (same) return this.target
    this.#host = Uint8Array.prototype.slice.call(input, hostStart, hostEnd)
    this.#epoch = routes.epoch
    const name = hostName(latin1(input, hostStart, hostEnd))
    this.target = routes.find(name) ?? null
    this.secured = routes.findCertificate(name) !== undefined
    return this.target
  }

  /** What comes next has no host that could be read. */
  forget(): void {
    this.target = null
    this.#epoch = -1
  }
}
