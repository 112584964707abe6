import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { answerOf } from '#server/network/answers.ts'

/** A probe without an answer within this time has failed. */
const PROBE_TIMEOUT_MS = 5_000
/**
 * A port published by the engine accepts connections even if no program listens; one that is still open after this time
 * reached a program.
 */
const PUBLISHED_SETTLE_MS = 1_000

export interface ProbeTarget {
  host: string
  port: number
  /** With a path an HTTP GET must be answered with 200 to 399; without one the port must accept TCP. */
  path: string | null
  /** The Host header of the GET: the service's own name. */
  hostHeader: string
  /** Whether the port is published by the engine rather than the container's own. */
  published: boolean
}

/** Probes once from outside the container. Returns null if it is healthy, else the reason. */
export async function probe(target: ProbeTarget): Promise<string | null> {
  return target.path === null ? probeTcp(target) : probeHttp(target, target.path)
}

function probeTcp({ host, port, published }: ProbeTarget): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const finish = (reason: string | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(reason)
    }
    const timer = setTimeout(() => finish(`port ${port} does not answer`), PROBE_TIMEOUT_MS)
    socket.once('error', (error: NodeJS.ErrnoException) => finish(describe(error, port)))
    socket.once('close', () => finish(`port ${port} closes connections immediately`))
    socket.once('connect', () => {
      if (!published) return finish(null)
      void delay(PUBLISHED_SETTLE_MS).then(() => finish(null))
    })
  })
}

function probeHttp({ host, port, hostHeader }: ProbeTarget, path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const outgoing = request({
      host,
      port,
      path,
      agent: false,
      headers: { host: hostHeader, 'user-agent': 'deployer-probe', connection: 'close' },
    })
    const finish = (reason: string | null) => {
      clearTimeout(timer)
      outgoing.destroy()
      resolve(reason)
    }
    const timer = setTimeout(
      () => finish(`GET ${path} was not answered within ${PROBE_TIMEOUT_MS / 1000} s`),
      PROBE_TIMEOUT_MS,
    )
    answerOf(outgoing).then(
      (response) => {
        response.resume()
        const status = response.statusCode ?? 0
        finish(status >= 200 && status < 400 ? null : `GET ${path} answers ${status}`)
      },
      (error: NodeJS.ErrnoException) => finish(describe(error, port)),
    )
    outgoing.end()
  })
}

function describe(error: NodeJS.ErrnoException, port: number): string {
  if (error.code === 'ECONNREFUSED') return `nothing listens on port ${port}`
  return `port ${port} cannot be reached (${error.code ?? error.message})`
}
