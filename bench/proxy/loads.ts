import { loadHandshakes, loadHttp1, loadHttp2, type LoadFigures } from './load.ts'
import { BRIDGED_HOST, FILES_HOST, PLAIN_HOST, SECURE_HOST, UPLOADS_HOST, WORDS_HOST } from './ours.ts'
import { BOTH_CORES, PROXY_CORE, moveTo, type Contender, type Program } from './programs.ts'
import type { Figures, Launch } from './row.ts'
import { resumes } from './resumption.ts'

const CONNECTIONS = 64
const LARGE_BODY_CONNECTIONS = 8
const HTTP2_CONNECTIONS = 8
const HTTP2_STREAMS = 8
/** Fewer than the slowest proxy can do, so that CPU time per connection does not depend on queueing. */
const HANDSHAKES_PER_SECOND = 500
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

/** Pages that are compressed by the proxy. */
export async function compressed({ programs, seconds }: Launch, contender: Contender): Promise<Figures> {
  return figures(await loadPlain(programs.get(contender)!, { host: WORDS_HOST, path: '/words', seconds }))
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
  load: { host?: string; path?: string; connections?: number; seconds: number; cores?: string },
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
