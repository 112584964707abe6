import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { LOOPBACK } from '#server/datastores/view.ts'

/** Returns two free ports of the host's loopback interface. */
export async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const
  for (const server of servers) await once(server.listen(0, LOOPBACK), 'listening')
  const [first, second] = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) await once(server.close(), 'close')
  return [first!, second!]
}
