import { once } from 'node:events'
import { HOST, HttpUpstream, type ProxyStand, type RawConnection } from './stand.ts'

/** An app that answers the path and its own name after a moment, and echoes what upgraded connections send. */
export async function echoApp(name: string, delayMs = 2): Promise<HttpUpstream> {
  const upstream = await HttpUpstream.start(name, (request, response) => {
    request.resume()
    request.on('end', () => setTimeout(() => response.end(`${request.url} ${name}`), delayMs))
  })
  upstream.server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  return upstream
}

/** An upgraded connection through the proxy to an app that echoes. */
export class EchoConnection {
  readonly connection: RawConnection
  #said = 0

  private constructor(connection: RawConnection) {
    this.connection = connection
  }

  static async open(stand: ProxyStand): Promise<EchoConnection> {
    const connection = stand
      .raw()
      .request('GET /ws HTTP/1.1', `Host: ${HOST}`, 'Upgrade: websocket', 'Connection: upgrade')
    await connection.until('\r\n\r\n')
    return new EchoConnection(connection)
  }

  /** Sends something and waits for its echo; throws if the connection has ended. */
  async echoes(): Promise<void> {
    const words = `word ${++this.#said}.`
    this.connection.send(words)
    if (!(await this.connection.until(words)).endsWith(words)) throw new Error('the connection has ended')
  }
}

/** Requests a path on its own connection; returns everything that came. */
export async function ask(stand: ProxyStand, path: string, port = stand.port): Promise<string> {
  const connection = stand.raw(port).request(`GET ${path} HTTP/1.1`, `Host: ${HOST}`, 'Connection: close')
  return connection.end()
}

/** Resolves when a socket's other end has closed it. */
export async function closed(connection: RawConnection): Promise<void> {
  if (!connection.ended) await once(connection.socket, 'end')
}
