import { closeSync } from 'node:fs'
import { BoundSocket } from 'node:net'
import { ChannelError } from '../control/channel.ts'
import type { HeldSocket } from '../spawn.ts'
import { parseAddress } from '../table/validation.ts'

interface OpenSocket extends HeldSocket {
  close(): void
}

/**
 * The sockets that workers listen on. They are bound here, exclusively, once; the first worker makes them listen, and
 * as they are inherited and never accepted from here, none closes while a worker comes or goes.
 */
export class Sockets {
  #open: OpenSocket[]

  constructor(inherited: HeldSocket[]) {
    this.#open = inherited.map(({ address, fd }) => ({ address, fd, close: () => closeSync(fd) }))
  }

  /** The sockets for these addresses in this order, those that are missing newly bound. Throws `ChannelError`, with nothing new open. */
  bind(addresses: readonly string[]): HeldSocket[] {
    const added: OpenSocket[] = []
    try {
      for (const address of addresses) {
        if (!this.#open.some((socket) => socket.address === address)) added.push(bindOne(address))
      }
    } catch (error) {
      for (const socket of added) socket.close()
      throw error
    }
    this.#open.push(...added)
    return addresses.map((address) => this.#open.find((socket) => socket.address === address)!)
  }

  /** Closes all sockets but those of `addresses`. */
  keep(addresses: readonly string[]): void {
    const closing = this.#open.filter((socket) => !addresses.includes(socket.address))
    this.#open = this.#open.filter((socket) => addresses.includes(socket.address))
    for (const socket of closing) socket.close()
  }

  get held(): HeldSocket[] {
    return this.#open.map(({ address, fd }) => ({ address, fd }))
  }
}

function bindOne(address: string): OpenSocket {
  const { host, port } = parseAddress(address)
  const bound = tryBind(address, host, port)
  return { address, fd: bound.fd(), close: () => bound.close() }
}

function tryBind(address: string, host: string, port: number): BoundSocket {
  try {
    return new BoundSocket({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // A host without IPv6: the wildcard is then IPv4's.
    if (host === '::' && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL'))
      return tryBind(address, '0.0.0.0', port)
    const known = code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL'
    throw new ChannelError(known ? code : 'listen_failed', `${address}: ${message}`, address)
  }
}
