import { lookUp, warn, type ForeignMapping, type Notes } from '../foreign.ts'
import type { Node } from '../nodes.ts'
import { missingIn } from './interpolation.ts'

/** Where a program listens inside its container. */
export interface Port {
  number: number
  /** The end of a range. */
  last: number
  node: Node
}

/** Ports whose programs do not speak HTTP, so that a published one needs no route. */
const OTHER_PROTOCOLS = new Set([
  21, 22, 25, 53, 143, 389, 465, 587, 993, 1883, 3306, 5432, 5672, 6379, 9042, 9092, 11_211, 27_017,
])
/** Ports whose programs speak HTTP over a TLS of their own. */
const TLS_PORTS = new Set([443, 8443, 9443])
/** What a program also has: its own port is another one. */
const SIDE_PORTS = new Set([22, ...TLS_PORTS])

/** The ports of a service: which one it has here, and whether it is reached from outside. */
export interface Listening {
  port: Port | undefined
  isWeb: boolean
}

/** Chooses the port of a service and says which others are not reached. `called` is where other services call it. */
export function readListening(program: ForeignMapping, called: Port | undefined, notes: Notes): Listening {
  const published = readPorts(program, 'ports', notes)
  const exposed = readPorts(program, 'expose', notes)
  const main = published.find(({ number }) => !SIDE_PORTS.has(number)) ?? published[0]
  const port = main ?? exposed[0] ?? called ?? usualPort(program.node.entries.get('image'))
  const isWeb = main !== undefined && !OTHER_PROTOCOLS.has(main.number)
  for (const other of [...published, ...exposed]) tellUnreached(other, port!, notes)
  if (main && !isWeb)
    warn(
      notes,
      main.node,
      `the port ${main.number} does not speak HTTP: it is only reached inside the environment`,
    )
  if (main && TLS_PORTS.has(main.number))
    warn(
      notes,
      main.node,
      `the port ${main.number} speaks TLS, which is the server's part here: set the port where the program speaks HTTP`,
    )
  return { port, isWeb }
}

function tellUnreached({ number, last, node }: Port, { number: taken }: Port, notes: Notes): void {
  const first = number === taken ? number + 1 : number
  if (first > last) return
  const span = first === last ? String(first) : `${first} to ${last}`
  warn(notes, node, `a service has one port here: ${span} is only reached inside the environment`)
}

/** Where programs listen that files seldom name a port of, by the last part of their image's path. */
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

/** The end of `80`, `8080:80`, `127.0.0.1:8080:80/tcp`, `3000-3005:3000-3005`: the port inside the container. */
const INSIDE = /(?:^|:)(\d{1,5})(?:-(\d{1,5}))?(?:\/tcp)?$/

function readPorts(program: ForeignMapping, field: string, notes: Notes): Port[] {
  return program.list(field).flatMap((item) => {
    const target = item.kind === 'mapping' ? item.entries.get('target') : item
    const protocol = item.kind === 'mapping' ? item.entries.get('protocol') : undefined
    const text = target?.kind === 'scalar' ? target.text : ''
    const missing = missingIn(target)
    const [, from, to = from] = INSIDE.exec(text) ?? []
    const [number, last] = [Number(from), Number(to)]
    if (text.endsWith('/udp') || (protocol?.kind === 'scalar' && protocol.text === 'udp'))
      warn(notes, item, 'UDP is not routed here: it is left out')
    else if (number >= 1 && last >= number && last <= 65_535) return [{ number, last, node: item }]
    else if (missing.length > 0)
      warn(notes, item, `takes ${missing.join(', ')} from outside of the file: set the port by hand`)
    else notes.faults.add(item.place, 'must be a port such as 8080:80')
    return []
  })
}
