import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Between two requests of one kind: the machine has other work. */
const PAUSE_MS = 5

/** Requests that are made again and again, over new connections and over kept ones. */
export class Requests {
  #port: number
  #host: string
  #agents: Agent[]
  #running = true
  #loops: Promise<void>[]
  #answered = 0
  /** How often each error was seen. */
  #failures = new Map<string, number>()

  constructor(port: number, host: string) {
    this.#port = port
    this.#host = host
    this.#agents = [false, false, true, true].map((keepAlive) => new Agent({ keepAlive, maxSockets: 1 }))
    this.#loops = this.#agents.map((agent) => this.#loop(agent))
  }

  /** What has failed since the last call; waits until each kind of request has had an answer since. */
  async failures(): Promise<string[]> {
    const enough = this.#answered + 2 * this.#agents.length
    const until = performance.now() + 30_000
    while (this.#answered < enough && performance.now() < until) await once(this.#port, this.#host)
    const failures = [...this.#failures].map(([fault, count]) => `${count} times ${fault}`)
    this.#failures.clear()
    return failures
  }

  get answered(): number {
    return this.#answered
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#loops)
    for (const agent of this.#agents) agent.destroy()
  }

  async #loop(agent: Agent): Promise<void> {
    while (this.#running) {
      const fault = await once(this.#port, this.#host, agent)
      if (fault === null) this.#answered++
      else this.#failures.set(fault, (this.#failures.get(fault) ?? 0) + 1)
      await delay(PAUSE_MS)
    }
  }
}

/** Makes one request; returns what is wrong with its answer, or null. */
export function once(port: number, host: string, agent?: Agent): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, headers: { host }, agent }, (response) => {
      response.on('error', (error) => resolve(error.message))
      response.on('end', () => resolve(response.statusCode === 200 ? null : `status ${response.statusCode}`))
      response.resume()
    })
    asked.setTimeout(20_000, () => asked.destroy(new Error('no answer within 20 s')))
    asked.on('error', (error) => resolve(error.message))
    asked.end()
  })
}

/** The status of an answer over HTTPS, whoever has signed the certificate. */
export function onceSecure(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      servername: host,
      headers: { host },
      rejectUnauthorized: false,
    }
    requestSecurely({ ...options, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}

/** A self-signed certificate for a host. */
export async function makeCertificate(host: string): Promise<{ certificate: string; private_key: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-pair-'))
  const [certificate, key] = [join(folder, 'a.crt'), join(folder, 'a.key')]
  try {
    await promisify(execFile)('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '30',
      ],
      ...[
        '-subj',
        `/CN=${host}`,
        '-addext',
        `subjectAltName=DNS:${host}`,
        '-keyout',
        key,
        '-out',
        certificate,
      ],
    ])
    return { certificate: readFileSync(certificate, 'utf8'), private_key: readFileSync(key, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
