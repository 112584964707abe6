import type { Call } from '../call.ts'
import type { Server } from './server.ts'
import type { Transport } from './transport.ts'

export async function sshTransport(server: Server, call: Call): Promise<Transport> {
  void call
  throw new Error(server.url)
}
