import { once } from 'node:events'
import { expect } from 'vitest'
import { WebSocket, type ClientOptions } from 'ws'
import type { TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

interface Opened {
  id: string
  ticket: string
  path: string
  container: string
  expires_at: string
}

/** A client of a shell that keeps everything that it gets. */
export class ShellClient {
  readonly opened: Opened
  readonly socket: WebSocket
  /** What the program has printed. */
  printed = ''
  bytes = 0
  readonly texts: unknown[] = []
  readonly closed: Promise<{ code: number; reason: string }>

  constructor(opened: Opened, socket: WebSocket) {
    this.opened = opened
    this.socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return void this.texts.push(JSON.parse(data.toString()))
      this.bytes += data.length
      this.printed = (this.printed + data.toString()).slice(-64 * 1024)
    })
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
    })
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text))
  }

  resize(rows: number, cols: number): void {
    this.socket.send(JSON.stringify({ resize: [rows, cols] }))
  }

  /** Waits until it was printed. */
  async until(wanted: RegExp): Promise<void> {
    await waitFor(() => wanted.test(this.printed), `${wanted} in what was printed`).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(this.printed.slice(-2_000))}`)
    })
  }

  /** Leaves without a word, like a client whose computer is switched off. */
  async vanish(): Promise<void> {
    this.socket.terminate()
    await this.closed
  }
}

/** Opens a shell, and does not connect to it. `of` is `services/web` or `datastores/db`. */
export async function request(server: TestServer, of: string, fields: object = {}): Promise<Opened> {
  const { status, body } = await server.api('POST', `/${of}/shells`, { rows: 24, cols: 80, ...fields })
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { id: expect.stringMatching(/^shl-/) as string },
  })
  return body
}

export function socketTo(
  server: TestServer,
  { path, ticket }: Opened,
  options: ClientOptions = {},
): WebSocket {
  const socket = new WebSocket(
    `${server.url.replace('http', 'ws')}${path}?ticket=${ticket}`,
    'deployer.shell.v1',
    options,
  )
  socket.on('error', () => {})
  return socket
}

/** Opens a shell and connects to it. */
export async function openShell(server: TestServer, of: string, fields: object = {}): Promise<ShellClient> {
  return connectTo(server, await request(server, of, fields))
}

export async function connectTo(server: TestServer, opened: Opened): Promise<ShellClient> {
  const socket = socketTo(server, opened)
  const client = new ShellClient(opened, socket)
  await once(socket, 'open')
  return client
}

/** The status with which a connection is refused. */
export async function refusalOf(socket: WebSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode!))
    socket.once('open', () => reject(new Error('it was opened')))
  })
}
