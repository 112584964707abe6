import { linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { Channel, ChannelError, type Handler } from '../control/channel.ts'
import { controlSocketFile, withSocketPath } from '../control/paths.ts'
import { SocketWatch } from '../control/socket-watch.ts'
import type { Hello } from '../protocol.ts'

/** The control plane needs one connection, a successor one, and `stop --all` one. */
const MAX_CONTROL_CONNECTIONS = 64

/** The supervisor's control socket. It greets first, and accepts only `attach` until that has succeeded. */
export class ControlServer {
  #server: Server | null = null
  #watch: SocketWatch | null = null
  #channels = new Set<Channel>()
  #file: string
  /** The inode of the socket's file: if another is in its place, it is a successor's. */
  #inode = 0
  #hello: () => Hello
  #makeHandler: () => Handler
  #gone: () => void

  /**
   * `makeHandler` returns a handler for one connection; `gone` is called when the socket's folder does not exist any more.
   */
  constructor(dataDirectory: string, hello: () => Hello, makeHandler: () => Handler, gone: () => void) {
    this.#file = controlSocketFile(dataDirectory)
    this.#hello = hello
    this.#makeHandler = makeHandler
    this.#gone = gone
  }

  /** Opens the socket and atomically replaces whatever file is there. */
  async open(): Promise<void> {
    await this.#listen(renameSync)
    this.#watch = new SocketWatch(this.#file, {
      isAlone: () => this.#channels.size === 0,
      // A hard link, because that fails if a file is there.
      reopen: () => this.#listen(linkSync),
      gone: this.#gone,
    })
    this.#watch.start()
  }

  /** Listens on a socket; `place` moves it to its name. */
  async #listen(place: (temporary: string, file: string) => void): Promise<void> {
    const temporary = `${this.#file}.${process.pid}`
    rmSync(temporary, { force: true })
    const server = createServer((socket) => this.#serve(socket, this.#makeHandler()))
    server.maxConnections = MAX_CONTROL_CONNECTIONS
    await withSocketPath(
      temporary,
      (path) =>
        new Promise<void>((resolve, reject) => {
          server.once('error', reject)
          server.listen(path, resolve)
        }),
    )
    try {
      const { ino } = statSync(temporary)
      place(temporary, this.#file)
      this.#inode = ino
    } catch (error) {
      server.close()
      throw error
    } finally {
      rmSync(temporary, { force: true })
    }
    this.#server?.close()
    this.#server = server
  }

  /** Accepts no more connections, and ends each one after its answers were sent. */
  close(): void {
    this.#server?.close()
    for (const channel of this.#channels) channel.close()
  }

  /** Removes the socket's file for good. */
  remove(): void {
    this.#watch?.stop()
    this.#watch = null
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode)
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
      } else if (!attached) throw new ChannelError('failed', 'the first request must be attach')
      return handler(op, body, text)
    })
    this.#channels.add(channel)
    channel.onClose = () => {
      this.#channels.delete(channel)
      if (this.#channels.size === 0) this.#watch?.start()
    }
    channel.event('hello', this.#hello())
  }
}
