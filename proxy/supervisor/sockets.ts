import { closeSync } from 'node:fs'
import { BoundSocket } from 'node:net'
import { ChannelError } from '../control/channel.ts'
import type { HeldSocket } from '../spawn.ts'
import { parseAddress } from '../table/validation.ts'

interface OpenSocket extends HeldSocket {
  close(): void
}

/**
 * The sockets that workers listen on. They are bound here once, exclusively, and the first worker makes them listen. Since
 * they are inherited and nothing is accepted here, none closes when a worker starts or ends.
 */
export class Sockets {
  #open: OpenSocket[]

  constructor(inherited: HeldSocket[]) {
    this.#open = inherited.map(({ address, fd }) => ({ address, fd, close: () => closeSync(fd) }))
  }

  /**
   * Returns the sockets for these addresses in order, binding the missing ones. If it throws `ChannelError`, nothing new is
   * open.
   */
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

  /** Closes all sockets except those of `addresses`. */
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
    // On a host without IPv6, the wildcard means IPv4.
    if (host === '::' && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL'))
      return tryBind(address, '0.0.0.0', port)
    const known = code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL'
    throw new ChannelError(known ? code : 'listen_failed', `${address}: ${message}`, address)
  }
}
