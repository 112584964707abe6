import { ForeignMapping, lookUp, warn, type Notes } from '../foreign.ts'
import type { MappingNode, Node } from '../nodes.ts'
import { missingIn } from './interpolation.ts'

/** Where a program listens inside its container. */
export interface Port {
  number: number
  /** The last port of a range. */
  last: number
  node: Node
}

/** Ports whose programs do not speak HTTP, so that publishing one does not call for a route. */
const OTHER_PROTOCOLS = new Set([
  21, 22, 25, 53, 110, 143, 389, 465, 587, 636, 993, 995, 1025, 1433, 1521, 1883, 1935, 2181, 2525, 3306,
  4222, 5222, 5432, 5672, 6379, 6380, 7687, 8883, 9042, 9092, 9101, 11_211, 26_379, 27_017, 29_092, 33_060,
  61_616,
])
/** Ports whose programs speak HTTP over their own TLS. */
const TLS_PORTS = new Set([443, 8443, 9443])

/** The port that a service has here, and whether it is reached from outside. */
export interface Listening {
  port: Port | undefined
  isWeb: boolean
}

/** Chooses a service's port and warns of others. `called` is the port to which other services connect. */
export function readListening(program: ForeignMapping, called: Port | undefined, notes: Notes): Listening {
  const published = readPorts(program, 'ports', notes)
  const exposed = readPorts(program, 'expose', notes)
  const web = published.filter(({ number }) => !OTHER_PROTOCOLS.has(number))
  const plain = (ports: readonly Port[]) =>
    ports.find(({ number }) => !OTHER_PROTOCOLS.has(number) && !TLS_PORTS.has(number))
  // Plain HTTP is preferred to HTTP over the program's own TLS, and both to anything else.
  const main = plain(web) ?? (web.length > 0 ? (plain(exposed) ?? web[0]) : published[0])
  const port = main ?? exposed[0] ?? called ?? usualPort(program.node.entries.get('image'))
  const isWeb = web.length > 0
  for (const given of published) warnOfAddress(given, isWeb && given === main, notes)
  for (const other of [...published, ...exposed]) warnOfUnreachable(other, port!, notes)
  if (main && !isWeb)
    warn(
      notes,
      main.node,
      `the port ${main.number} does not speak HTTP: it can only be reached inside the environment`,
    )
  if (main && TLS_PORTS.has(main.number))
    warn(
      notes,
      main.node,
      `the port ${main.number} speaks TLS, which the server handles here: set the port on which the program speaks HTTP`,
    )
  return { port, isWeb }
}

function warnOfUnreachable({ number, last, node }: Port, { number: taken }: Port, notes: Notes): void {
  const first = number === taken ? number + 1 : number
  if (first > last) return
  const span = first === last ? String(first) : `${first} to ${last}`
  warn(notes, node, `a service has one port here: ${span} can only be reached inside the environment`)
}

/** The ports of programs for which files seldom name one, by the last part of the image's path. */
const USUAL_PORTS: Record<string, number> = {
  mysql: 3306,
  mariadb: 3306,
  mongo: 27_017,
  rabbitmq: 5672,
  memcached: 11_211,
  elasticsearch: 9200,
  minio: 9000,
  nats: 4222,
  postgres: 5432,
  postgresql: 5432,
  postgis: 5432,
  pgvector: 5432,
  timescaledb: 5432,
  redis: 6379,
  'redis-stack': 6379,
  'redis-stack-server': 6379,
}

function usualPort(image: Node | undefined): Port | undefined {
  if (image?.kind !== 'scalar') return undefined
  const number = lookUp(USUAL_PORTS, image.text.split('/').at(-1)!.split(/[:@]/)[0]!)
  return number === undefined ? undefined : { number, last: number, node: image }
}

/** Warns of a port that is published only at one address of the host: here a web service is reached at all of them. */
function warnOfAddress({ node }: Port, isReached: boolean, notes: Notes): void {
  const given = node.kind === 'mapping' ? node.entries.get('host_ip') : node
  if (given?.kind !== 'scalar') return
  const address = node.kind === 'mapping' ? given.text : (HOST_ADDRESS.exec(given.text)?.[1] ?? '')
  if (isReached && LOOPBACK.test(address))
    warn(
      notes,
      given,
      "is published only on the machine's loopback address: here it can be reached from everywhere",
    )
  else if (isReached && !EVERY_ADDRESS.test(address))
    warn(notes, given, `is published only at ${address}: here it can be reached from everywhere`)
  else if (node.kind === 'mapping')
    warn(notes, given, 'a port has no address of its own here: it is left out')
}

/** The address in the short form, which is followed by both ports (compose-spec, "ports"). */
const HOST_ADDRESS = /^(\[[^\]]*\]|[^:]*):[^:]*:[^:]*$/
const LOOPBACK = /^(?:127\.|localhost$|\[?::1\]?$)/
const EVERY_ADDRESS = /^(?:|0\.0\.0\.0|\[?::\]?)$/

/** Fields of the long form that have no counterpart, and why. */
const LEFT_OUT: Record<string, string> = {
  published: 'no port of the host leads to a service here: a web service is reached by its host names',
  mode: 'there is one machine here: it is left out',
}

/** The end of `80`, `8080:80`, `127.0.0.1:8080:80/tcp`, `3000-3005:3000-3005`: the port inside the container. */
const INSIDE = /(?:^|:)(\d{1,5})(?:-(\d{1,5}))?(?:\/tcp)?$/i

function readPorts(program: ForeignMapping, field: string, notes: Notes): Port[] {
  return program.list(field).flatMap((item) => {
    const target = item.kind === 'mapping' ? item.entries.get('target') : item
    const protocol = item.kind === 'mapping' ? item.entries.get('protocol') : undefined
    const text = target?.kind === 'scalar' ? target.text : ''
    const missing = missingIn(target)
    const [, from, to = from] = INSIDE.exec(text) ?? []
    const [number, last] = [Number(from), Number(to)]
    if (/\/(?:udp|sctp)$/i.test(text) || (protocol?.kind === 'scalar' && protocol.text !== 'tcp'))
      warn(notes, item, 'only TCP is routed here: it is left out')
    else if (number >= 1 && last >= number && last <= 65_535) {
      if (item.kind === 'mapping') warnOfFields(item, notes)
      return [{ number, last, node: item }]
    } else if (missing.length > 0)
      warn(notes, item, `uses ${missing.join(', ')} from outside the file: set the port by hand`)
    else notes.faults.add(item.place, 'must be a port such as 8080:80')
    return []
  })
}

function warnOfFields(item: MappingNode, notes: Notes): void {
  const mapping = new ForeignMapping(item, notes)
  for (const field of ['target', 'protocol', 'host_ip']) mapping.take(field)
  mapping.end(LEFT_OUT)
}
