import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Stands between a client and a server, and cuts their connections. */
export interface CuttingProxy {
  /** The address for the client, without a slash at the end. */
  readonly url: string
  /** How many connections there were. */
  readonly count: number
  /** After how many bytes of the server a connection is cut, the first being 1; null for never. */
  cutAfter: (connection: number) => number | null
  /** Whether nothing is passed on any more, while connections stay open. */
  isSilent: boolean
  /** After how many bytes of a client nothing more is read from it, until `resume`; null for never. */
  holdAfter: number | null
  /** Whether that happened. */
  isHolding: boolean
  resume(): void
  /** Cuts every connection now. */
  cut(): void
  close(): Promise<void>
}

/** Opens a proxy in front of an address such as `http://127.0.0.1:7878`. */
export async function openCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const number = ++proxy.count
    const upstream = connect(Number(port), hostname)
    const cut = (): void => {
      client.resetAndDestroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', cut).on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    let taken = 0
    client.on('data', (bytes: Buffer) => {
      upstream.write(bytes)
      taken += bytes.length
      if (taken <= (proxy.holdAfter ?? Infinity)) return
      client.pause()
      proxy.isHolding = true
    })
    let passed = 0
    upstream.on('data', (bytes: Buffer) => {
      if (proxy.isSilent) return
      const left = Math.max(0, (proxy.cutAfter(number) ?? Infinity) - passed)
      passed += bytes.length
      if (bytes.length < left) client.write(bytes)
      else if (!client.writableEnded) client.end(bytes.subarray(0, left), cut)
    })
  })
  const proxy = {
    url: '',
    count: 0,
    cutAfter: (_: number): number | null => null,
    isSilent: false,
    holdAfter: null as number | null,
    isHolding: false,
    resume: () => {
      proxy.holdAfter = null
      proxy.isHolding = false
      open.forEach((socket) => socket.resume())
    },
    cut: () => open.forEach((socket) => socket.destroy()),
    close: async () => {
      proxy.cut()
      await once(server.close(), 'close')
    },
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
