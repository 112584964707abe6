import type { Datastore } from '#server/datastores/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { findDatastore } from '../datastore.ts'
import { shown } from '../secrets.ts'
import { isOfThisMachine, listenFor, wayTo } from '../way-to-datastore.ts'

const MAX_PORT = 65_535

/** Prints the address of a datastore, with its password. */
export async function url(call: Call): Promise<void> {
  const { api, datastore } = await findDatastore(call)
  api.close()
  shown(datastore.password)
  const { name, status, internal_url, external_url } = datastore
  const address = call.has('internal') ? internal_url : external_url
  if (address === null)
    throw new Fault(EXIT.conflict, `datastore ${name} is ${status} and has no port yet; try again later`)
  if (call.out.isJson) call.out.json({ url: address })
  else call.out.line(address)
  if (!call.has('internal') && !isOfThisMachine(api))
    call.out.note(
      `Note: this port is on the loopback of ${new URL(api.server.url).host}; deployer db proxy ${name} brings it here.`,
    )
}

/** Brings a datastore to a port of this computer, until Ctrl-C. */
export async function proxy(call: Call): Promise<void> {
  const port = portOf(call)
  const { api, target, datastore } = await findDatastore(call)
  const way = await wayTo(call, api, target, datastore)
  const listening = await listenFor(way, port, (fault) => call.out.foreign(`deployer: ${fault.message}`))
  const address = `127.0.0.1:${listening.port}`
  const local = localUrl(datastore, listening.port, call.has('reveal'))
  if (call.out.isJson) return call.out.jsonLine({ address, url: local })
  call.out.line(address)
  call.out.line(local)
}

function portOf(call: Call): number {
  const text = call.text('port')
  if (text === null) return 0
  const port = Number(text)
  if (/^\d+$/.test(text) && port > 0 && port <= MAX_PORT) return port
  throw wrong(`--port takes a number from 1 to ${MAX_PORT}`)
}

function localUrl({ external_url }: Datastore, port: number, hasPassword: boolean): string {
  const local = new URL(shown(external_url))
  local.port = String(port)
  if (!hasPassword) local.password = ''
  return local.href
}
