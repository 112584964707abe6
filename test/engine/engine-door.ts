import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { standEngine } from '../support/stand-setup.ts'

/** A separate socket that leads to the stand's engine, for a server from which the engine is to be taken away. */
export interface EngineDoor {
  /** For `--docker-host`. */
  host: string
  /** Lets the server reach the engine; it may already. */
  comeBack(): Promise<void>
  /** Takes the engine away from the server; others still have it. */
  goAway(): Promise<void>
  /**
   * Takes the engine away like another program that holds its socket, as systemd does: new requests wait for the next
   * engine. Earlier requests are answered until `comeBack`, when the old engine has ended and the next is there.
   */
  hold(): void
  /** Has the engine accept requests without answering, or answer new ones again. */
  fallSilent(isSilent: boolean): void
  /** Has the engine refuse requests with such a first line, with these words or (null) none; null as line stops it. */
  refuse(requests: { line: RegExp; words: string | null } | null): void
  /** How many requests it has been made to refuse so far. */
  readonly refusals: number
  close(): Promise<void>
}

/** Opens a door to the engine. */
export async function openDoor(): Promise<EngineDoor> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-door-'))
  const socket = join(folder, 'engine.sock')
  const open = new Set<Socket>()
  let door: Server | null = null
  let isSilent = false
  /** The requests that wait for the next engine; null while the socket is not held. */
  let waiting: Socket[] | null = null
  let refused: { line: RegExp; words: string | null } | null = null
  let refusals = 0

  function take(client: Socket): void {
    if (waiting) waiting.push(client)
    else pass(client)
  }

  function pass(client: Socket): void {
    const engine = connect(standEngine().replace('unix://', ''))
    for (const end of [client, engine]) {
      open.add(end)
      end.on('error', () => {})
      end.on('close', () => open.delete(end))
    }
    client.on('close', () => engine.destroy())
    // A client that is still writing sees the end, not a broken connection.
    engine.on('close', () => client.end())
    client.on('data', (chunk) => {
      if (isSilent) return
      const line = chunk.toString('latin1').split('\r\n')[0]!
      if (!refused?.line.test(line)) return void engine.write(chunk)
      refusals++
      if (refused.words !== null) client.end(refusal(refused.words))
    })
    client.on('end', () => engine.end())
    engine.pipe(client)
  }

  const opened: EngineDoor = {
    host: `unix://${socket}`,
    async comeBack() {
      const clients = waiting
      waiting = null
      if (clients) for (const end of open) end.destroy()
      clients?.forEach(pass)
      if (door) return
      const server = createServer({ allowHalfOpen: true }, take)
      door = server
      await new Promise<void>((resolve) => server.listen(socket, resolve))
    },
    async goAway() {
      const server = door
      if (!server) return
      door = null
      for (const end of [...open, ...(waiting ?? [])]) end.destroy()
      waiting = null
      await new Promise((resolve) => server.close(resolve))
      rmSync(socket, { force: true })
    },
    hold: () => void (waiting ??= []),
    fallSilent: (silent) => void (isSilent = silent),
    refuse: (requests) => (refused = requests),
    get refusals() {
      return refusals
    },
    async close() {
      await opened.goAway()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await opened.comeBack()
  return opened
}

function refusal(message: string): string {
  const body = JSON.stringify({ message })
  return `HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
}
