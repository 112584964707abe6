import { renameSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { Channel, ChannelError, type Handler } from '../control/channel.ts'
import { controlSocketFile, withSocketPath } from '../control/paths.ts'
import type { Hello } from '../protocol.ts'

/** The control plane has one connection, a successor one, `stop --all` one. */
const MAX_CONTROL_CONNECTIONS = 64

/** The supervisor's control socket. It greets first, and hears nothing but `attach` until that was accepted. */
export class ControlServer {
  #server: Server
  #channels = new Set<Channel>()
  #file: string
  #hello: () => Hello

  /** `makeHandler` makes what answers one connection. */
  constructor(dataDirectory: string, hello: () => Hello, makeHandler: () => Handler) {
    this.#file = controlSocketFile(dataDirectory)
    this.#hello = hello
    this.#server = createServer((socket) => this.#serve(socket, makeHandler()))
    this.#server.maxConnections = MAX_CONTROL_CONNECTIONS
  }

  /** Opens the socket in place of whatever is there, at once. */
  async open(): Promise<void> {
    const temporary = `${this.#file}.${process.pid}`
    rmSync(temporary, { force: true })
    await withSocketPath(
      temporary,
      (path) =>
        new Promise<void>((resolve, reject) => {
          this.#server.once('error', reject)
          this.#server.listen(path, resolve)
        }),
    )
    renameSync(temporary, this.#file)
  }

  /** Accepts no more and ends every connection after what was answered. */
  close(): void {
    this.#server.close()
    for (const channel of this.#channels) channel.close()
  }

  /** Removes the socket's file. */
  remove(): void {
    rmSync(this.#file, { force: true })
  }

  #serve(socket: Socket, handler: Handler): void {
    let attached = false
    const channel = new Channel(socket, async (op, body, text) => {
      if (op === 'attach') {
        if (body.server_id !== this.#hello().server_id) {
          throw new ChannelError('other_server', 'this data plane belongs to another server')
        }
        attached = true
      } else if (!attached) throw new ChannelError('failed', 'attach first')
      return handler(op, body, text)
    })
    this.#channels.add(channel)
    channel.onClose = () => this.#channels.delete(channel)
    channel.event('hello', this.#hello())
  }
}
