import { execFileSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleProxy } from '../../modules/proxy.ts'
import { childrenOf } from '../lib/processes.ts'
import { BridgedUpstream } from './bridge.ts'
import { startCaddy } from './caddy.ts'
import { startHaproxy } from './haproxy.ts'
import { startNginx, startUpstream } from './nginx.ts'
import { SECURE_HOST, startOurs } from './ours.ts'
import {
  LOAD_CORE,
  accepts,
  PROXY_CORE,
  moveTo,
  startProgram,
  stopProgram,
  type Contender,
  type Program,
  type Start,
} from './programs.ts'

const FIRST_PORT = 18_800
const UPLOADS_PORT = FIRST_PORT - 1

/** The files that every proxy serves, by name and size. */
const FILES = { 'small.html': 1024, 'large.bin': 1024 * 1024 }

const UPLOAD_BYTES = 10 * 1024 * 1024

/** The folders, the certificate and the upstream of a run, and every program that it started. */
export class Stand {
  readonly upstreamPort = FIRST_PORT
  #upstream: ChildProcess | null = null
  #sink: ChildProcess | null = null
  #bridged: BridgedUpstream | null = null
  /** A file to upload. */
  readonly upload: string
  #folder: string
  /** The bundled program of the data plane. */
  #program: string
  #files: string
  #certificate: Start['certificate']
  #nextPort = FIRST_PORT + 1
  #started = 0
  #programs = new Set<Program>()

  static async open(): Promise<Stand> {
    if (await accepts(FIRST_PORT)) throw new Error(`port ${FIRST_PORT} is in use; does another bench run?`)
    const stand = new Stand()
    try {
      stand.#upstream = await startUpstream(stand.#makeFolder('upstream'), {
        host: '127.0.0.1',
        port: FIRST_PORT,
      })
      const sink: [string, ...string[]] = [
        process.execPath,
        join(import.meta.dirname, 'sink.ts'),
        String(UPLOADS_PORT),
      ]
      stand.#sink = await startProgram(LOAD_CORE, sink, { folder: stand.#folder, ports: [UPLOADS_PORT] })
      stand.#bridged = await BridgedUpstream.start(stand.#makeFolder('bridged'))
    } catch (error) {
      await stand.close()
      throw error
    }
    return stand
  }

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
    // The other proxies read it as users of their own.
    chmodSync(this.#folder, 0o755)
    this.#program = join(this.#folder, 'proxy.mjs')
    bundleProxy(join(import.meta.dirname, '../..'), this.#program)
    this.#certificate = makeCertificate(this.#folder)
    this.upload = join(this.#folder, 'upload')
    writeFileSync(this.upload, randomBytes(UPLOAD_BYTES))
    this.#files = this.#makeFolder('files')
    for (const [name, bytes] of Object.entries(FILES))
      writeFileSync(join(this.#files, name), randomBytes(bytes))
  }

  /** Starts a proxy, by default alone on its core. */
  async start(
    contender: Contender,
    { workers = 1, cores = PROXY_CORE }: { workers?: number; cores?: string } = {},
  ): Promise<Program> {
    const program = await this.#launch(contender, this.#prepare(contender, workers, cores))
    this.#programs.add(program)
    return program
  }

  async stop(program: Program): Promise<void> {
    this.#programs.delete(program)
    await program.stop()
  }

  /** The living processes of the run, whose CPU time is not a disturbance. */
  get pids(): number[] {
    return [process.pid, ...this.upstreamPids, ...[...this.#programs].flatMap((program) => program.pids())]
  }

  get upstreamPids(): number[] {
    const pids = [this.#upstream!.pid!, this.#sink!.pid!, ...(this.#bridged ? [this.#bridged.pid] : [])]
    return pids.flatMap((pid) => [pid, ...childrenOf(pid)])
  }

  /** Moves the upstream back to the core of the load generator. */
  pinUpstream(): void {
    moveTo(LOAD_CORE, this.upstreamPids)
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#programs].map((program) => program.stop()))
    await this.#bridged?.stop()
    for (const program of [this.#upstream, this.#sink]) if (program) await stopProgram(program)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #prepare(contender: Contender, workers: number, cores: string): Start {
    const folder = this.#makeFolder(`${contender}-${++this.#started}`)
    const ports = { plain: this.#nextPort++, secure: this.#nextPort++, files: this.#nextPort++ }
    return {
      folder,
      cores,
      workers,
      upstreamPort: this.upstreamPort,
      uploadsPort: UPLOADS_PORT,
      bridged: this.#bridged,
      ports,
      certificate: this.#certificate,
      files: this.#files,
    }
  }

  #makeFolder(name: string): string {
    const folder = join(this.#folder, name)
    mkdirSync(folder)
    return folder
  }

  #launch(contender: Contender, start: Start): Promise<Program> {
    switch (contender) {
      case 'ours':
        return startOurs(start, this.#program)
      case 'nginx':
        return startNginx(start)
      case 'nginxLargeBuffers':
        return startNginx(start, true)
      case 'haproxy':
        return startHaproxy(start)
      case 'caddy':
        return startCaddy(start)
    }
  }
}

/** Creates a self-signed ECDSA certificate over P-256. */
function makeCertificate(folder: string): Start['certificate'] {
  const files = { certificate: join(folder, 'chain.pem'), key: join(folder, 'key.pem') }
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '30', '-subj', `/CN=${SECURE_HOST}`, '-addext', `subjectAltName=DNS:${SECURE_HOST}`],
      ...['-keyout', files.key, '-out', files.certificate],
    ],
    { stdio: 'ignore' },
  )
  return files
}
