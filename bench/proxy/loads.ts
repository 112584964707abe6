import { setTimeout as delay } from 'node:timers/promises'
import type { ProxyClient } from '../../daemon/proxy/client.ts'
import { EDGE_FIELDS, EDGE_HOST, EMPTY_EDGE_HOST } from './edge.ts'
import { loadHandshakes, loadHttp1, loadHttp2, type Http1Load, type LoadFigures } from './load.ts'
import {
  BRIDGED_HOST,
  FILES_HOST,
  LOGGED_HOST,
  PLAIN_HOST,
  SECURE_HOST,
  UPLOADS_HOST,
  WORDS_HOST,
  type OurProgram,
} from './ours.ts'
import { BOTH_CORES, PROXY_CORE, moveTo, type Contender, type Program } from './programs.ts'
import type { Figures, Launch } from './row.ts'
import { resumes } from './resumption.ts'

const CONNECTIONS = 64
const LARGE_BODY_CONNECTIONS = 8
const HTTP2_CONNECTIONS = 8
const HTTP2_STREAMS = 8
/** Fewer than the slowest proxy can do, so that CPU time per connection does not depend on queueing. */
const HANDSHAKES_PER_SECOND = 500
/** How often the control plane takes lines of access logs. */
const TAKE_MS = 250
/** Longer, because two workers share the load that gets their code compiled. */
const WARM_UP_SECONDS = 4

/** Small bodies over kept-alive connections. */
export async function keptAlive({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  return figures(await loadPlain(programs.get(contender)!, { seconds }))
}

/** The same from an application in a network of its own, like a container. */
export async function keptAliveBridged(launch: Launch, contender: Contender): Promise<Figures> {
  const { programs, seconds } = launch
  return figures(await loadPlain(programs.get(contender)!, { host: BRIDGED_HOST, seconds }))
}

/** The same, each request as a line of a log. The control plane takes ours meanwhile. */
export async function logged(launch: Launch, contender: Contender): Promise<Figures> {
  const program = launch.programs.get(contender)!
  const load = loadPlain(program, { host: LOGGED_HOST, seconds: launch.seconds })
  // nginx writes its own, and loses none.
  const lost = contender === 'ours' ? await lostLines((program as OurProgram).client, load) : 0
  return { ...figures(await load), lost }
}

/** Takes lines as the control plane does, until the load has ended; returns the share that found no room. */
async function lostLines(client: ProxyClient, load: Promise<unknown>): Promise<number> {
  let isOver = false
  load.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  let lines = 0
  let lost = 0
  for (let more = false; !isOver || more;) {
    if (!more) await delay(TAKE_MS)
    const answer = await client.accessLines()
    lines += answer.lines.length
    lost += answer.lost.logged ?? 0
    more = answer.more
  }
  return lost / (lines + lost)
}

/** Pages that are compressed by the proxy. */
export async function compressed({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  return figures(await loadPlain(programs.get(contender)!, { host: WORDS_HOST, path: '/words', seconds }))
}

/** The same from an application that asks for much at its edge. */
export async function edge({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  return figures(await loadPlain(programs.get(contender)!, { host: EDGE_HOST, fields: EDGE_FIELDS, seconds }))
}

/** Compares an application that asks for nothing at its edge to one that has none. */
export async function emptyEdge({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  const program = programs.get(contender)!
  const without = await loadPlain(program, { seconds })
  const empty = await loadPlain(program, { host: EMPTY_EDGE_HOST, seconds })
  return {
    share: empty.perSecond / without.perSecond,
    cpuShare: without.cpuMicroseconds / empty.cpuMicroseconds,
  }
}

/** The same over TLS. */
export async function keptAliveSecure({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  const url = secureUrl(programs.get(contender)!)
  const load = { url, host: SECURE_HOST, connections: CONNECTIONS, seconds }
  return figures(await loadHttp1(programs.get(contender)!, load))
}

/** A connection with a full handshake, one request, and its end. */
export async function newConnections({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  const program = programs.get(contender)!
  const load = { url: secureUrl(program), perSecond: HANDSHAKES_PER_SECOND, seconds }
  return { ...figures(await loadHandshakes(program, load)), resumed: resumes(program) ? 1 : 0 }
}

/** Streams of HTTP/2 that request a path of a host. */
export function http2(
  host: string,
  path: string,
): (launch: Launch, contender: Contender) => Promise<Figures> {
  return async ({ programs, seconds }, contender) => {
    const load = { connections: HTTP2_CONNECTIONS, streams: HTTP2_STREAMS, seconds }
    return figures(await loadHttp2(programs.get(contender)!, { url: `https://${host}${path}`, ...load }))
  }
}

/** Large request bodies. */
export async function uploads({ stand, programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  const load = { connections: HTTP2_CONNECTIONS, streams: 1, seconds, upload: stand.upload }
  return figures(await loadHttp2(programs.get(contender)!, { url: `https://${UPLOADS_HOST}/`, ...load }))
}

/** Large response bodies. */
export async function largeBodies({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  const load = { path: '/large', connections: LARGE_BODY_CONNECTIONS, seconds }
  return figures(await loadPlain(programs.get(contender)!, load))
}

/** A file from the served folder. */
export function file(name: string): (launch: Launch, contender: Contender) => Promise<Figures> {
  return async ({ programs, seconds }, contender) => {
    const program = programs.get(contender)!
    const url = `http://127.0.0.1:${program.filesPort}/${name}`
    return figures(await loadHttp1(program, { url, host: FILES_HOST, connections: CONNECTIONS, seconds }))
  }
}

/** Compares the CPU time per request of two workers to that of one, all programs on both cores. */
export async function twoWorkers(launch: Launch, contender: Contender): Promise<Figures> {
  const { stand, seconds } = launch
  const one = launch.programs.get(contender)!
  const two = await pairOf(launch, contender)
  moveTo(BOTH_CORES, [...one.pids(), ...stand.upstreamPids])
  try {
    const alone = await loadPlain(one, { cores: BOTH_CORES, seconds })
    const both = await loadPlain(two, { cores: BOTH_CORES, seconds })
    return { change: both.cpuMicroseconds / alone.cpuMicroseconds, perSecond: both.perSecond }
  } finally {
    moveTo(PROXY_CORE, one.pids())
    stand.pinUpstream()
  }
}

async function pairOf({ stand, pairs }: Launch, contender: Contender): Promise<Program> {
  const known = pairs.get(contender)
  if (known) return known
  const pair = await stand.start(contender, { workers: 2, cores: BOTH_CORES })
  pairs.set(contender, pair)
  if (contender === 'ours') await loadPlain(pair, { cores: BOTH_CORES, seconds: WARM_UP_SECONDS })
  return pair
}

function loadPlain(
  program: Program,
  load: Partial<Omit<Http1Load, 'url'>> & { path?: string; seconds: number },
): Promise<LoadFigures> {
  const { host = PLAIN_HOST, path = '/', connections = CONNECTIONS, ...rest } = load
  const url = `http://127.0.0.1:${program.plainPort}${path}`
  return loadHttp1(program, { url, host, connections, ...rest })
}

function secureUrl(program: Program): string {
  return `https://${SECURE_HOST}:${program.securePort}/`
}

function figures({ perSecond, cpuMicroseconds, p99Ms, cores }: LoadFigures): Figures {
  return { perSecond, cpu: cpuMicroseconds, p99: p99Ms, cores }
}
