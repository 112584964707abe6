import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { pack } from 'tar-stream'
import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { Slots } from '#server/work/slots.ts'
import type { Engine } from '../engine/index.ts'
import { endOf, isEndingAt } from './authority.ts'
import { PushDoor } from './push-door.ts'
import { RegistryCalls } from './registry-calls.ts'
import { certifyCaller, certifyRegistry } from './registry-identities.ts'

const log = logger('nodes')

const PORT_LABEL = 'deployer.port'
const ENDS_LABEL = 'deployer.ends'
const CONFIGURATION = '/deployer-registry.yml'
const CERTIFICATE = '/deployer-registry.crt'
const KEY = '/deployer-registry.key'
const AUTHORITY = '/deployer-registry-authority.crt'
const DATA = '/var/lib/registry'
const MEMORY_BYTES = 512 * 1024 ** 2
const STARTS_WITHIN_MS = 30_000
const PERIOD_MS = 100
const STOP_SECONDS = 10
const CLEAN_EVERY_MS = 6 * 3_600_000
/** Collecting reads every manifest that is left. */
const COLLECT_MS = 10 * 60_000

/**
 * The registry from which other nodes get the images of the server's own engine: a container on this host's loopback, which
 * answers nobody but the server. What it holds is a copy, which is made again when it is missing.
 */
export class Registry {
  readonly #engine: Engine
  /** Pushes and the collection of garbage exclude each other: what is collected may be what a push relies on. */
  readonly #turn = new Slots(1)
  readonly #door = new PushDoor((request, response) => this.#calls?.passAll(request, response))
  #calls: RegistryCalls | null = null
  /** The work is for the disk, not for now: a server that was just started has more urgent things to do. */
  #cleanedAt = performance.now()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Makes sure that it has an image, under the service's id, and returns its digest. Throws `runtime_error`. */
  provide(serviceId: string, imageId: string, signal?: AbortSignal): Promise<string> {
    return this.#turn.run(async () => {
      const calls = await this.#ensure()
      const tag = tagOf(imageId)
      const known = await calls.digestOf(serviceId, tag).catch(() => null)
      if (known !== null) return known
      return this.#door.during(async ({ host, ...credentials }) => {
        const name = `${host}/${serviceId}:${tag}`
        await this.#engine.images.tag(imageId, name)
        try {
          return await this.#engine.transfer.push(name, credentials, signal)
        } finally {
          await this.#engine.images.remove(name)
        }
      })
    }, signal)
  }

  /** Answers a node's request for an image. */
  pass(request: IncomingMessage, response: ServerResponse): void {
    if (this.#calls) this.#calls.pass(request, response)
    else response.writeHead(503, { 'content-length': 0 }).end()
  }

  /** Removes images that the own engine no longer has, and what only they needed, if that is long ago. */
  async cleanNowAndThen(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEAN_EVERY_MS) return
    await this.clean()
    this.#cleanedAt = performance.now()
  }

  /** The same now. Does nothing without a registry. */
  async clean(): Promise<void> {
    if (!(await this.#engine.containers.inspect(this.#name))?.running) return
    await this.#turn.run(async () => {
      const calls = await this.#ensure()
      let removed = 0
      for (const { repository, tags } of await calls.content())
        for (const tag of tags) {
          if (await this.#engine.images.inspect(`sha256:${tag}`)) continue
          const digest = await calls.digestOf(repository, tag)
          if (digest !== null) await calls.remove(repository, digest)
          removed++
        }
      if (removed > 0) await this.#collect()
    })
  }

  /** Removes it with all that it holds. */
  async remove(): Promise<void> {
    this.#calls = null
    await this.#engine.containers.remove(this.#name)
    await this.#engine.volumes.remove(this.#name)
  }

  get #name(): string {
    return `deployer-registry-${useContext().serverId}`
  }

  /** Nothing is pushed meanwhile. It is started again, since it remembers what it had. */
  async #collect(): Promise<void> {
    const signal = AbortSignal.timeout(COLLECT_MS)
    const command = ['registry', 'garbage-collect', '--delete-untagged', CONFIGURATION]
    const program = await this.#engine.programs.start(this.#name, { command, env: {} }, signal)
    for await (const _ of program.streams.output());
    if ((await program.end()) !== 0)
      log.warn('the registry could not remove what nothing needs', { error: program.streams.errors })
    await this.#engine.containers.stop(this.#name, STOP_SECONDS)
    await this.#ensure()
  }

  /** Starts it unless it runs. */
  async #ensure(): Promise<RegistryCalls> {
    const { containers } = this.#engine
    const found = await containers.inspect(this.#name)
    const isCurrent = found !== null && isAsWanted(found.labels)
    if (isCurrent && found.running && this.#calls) return this.#calls
    if (found && !isCurrent) await containers.remove(this.#name)
    const port = isCurrent ? Number(found.labels[PORT_LABEL]) : await this.#create()
    await containers.start(this.#name)
    const calls = new RegistryCalls(port, await certifyCaller())
    for (const began = performance.now(); !(await calls.answers()); await delay(PERIOD_MS))
      if (performance.now() - began > STARTS_WITHIN_MS) await this.#giveUp(port)
    this.#calls = calls
    return calls
  }

  /** Another port may do: something else may have this one by now. */
  async #giveUp(port: number): Promise<never> {
    await this.#engine.containers.remove(this.#name)
    throw new AppError(
      'runtime_error',
      `the registry for other nodes (${useContext().options.registryImage}) does not answer at 127.0.0.1:${port}: try again, and see whether the image is a registry`,
    )
  }

  async #create(): Promise<number> {
    const { containers, volumes, images } = this.#engine
    const image = useContext().options.registryImage
    if (!(await images.inspect(image)))
      await images.pull(image, { signal: useContext().stopping, onLine: () => {} })
    const port = await freePort()
    const identity = await certifyRegistry()
    await volumes.create(this.#name, { 'deployer.kind': 'registry' })
    await containers.create({
      name: this.#name,
      image,
      labels: {
        ...{ 'deployer.kind': 'registry', 'deployer.image': image, [PORT_LABEL]: String(port) },
        [ENDS_LABEL]: String(endOf(identity.certificate)),
      },
      env: {},
      entrypoint: ['registry'],
      command: ['serve', CONFIGURATION],
      // In a network of containers, others could push to it.
      network: 'host',
      memoryBytes: MEMORY_BYTES,
      cpus: 1,
      volumes: [{ name: this.#name, path: DATA }],
    })
    const archive = pack()
    archive.entry({ name: CONFIGURATION.slice(1), mode: 0o444 }, configuration(port))
    archive.entry({ name: CERTIFICATE.slice(1), mode: 0o444 }, identity.certificate)
    archive.entry({ name: KEY.slice(1), mode: 0o400 }, identity.key)
    archive.entry({ name: AUTHORITY.slice(1), mode: 0o444 }, identity.authority)
    archive.finalize()
    const tar = Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false })
    await containers.putArchive(this.#name, '/', tar)
    return port
  }
}

/** Whether a registry is of the image that is wanted, and its certificate, which is older than the server's, lasts. */
function isAsWanted(labels: Record<string, string>): boolean {
  const isOfImage = labels['deployer.image'] === useContext().options.registryImage
  return isOfImage && !isEndingAt(Number(labels[ENDS_LABEL]))
}

/** A tag cannot have the colon of an id. */
function tagOf(imageId: string): string {
  return imageId.replace(/^sha256:/, '')
}

/** URLs that it tells are relative, since the own engine reaches it by another way. */
function configuration(port: number): string {
  return `version: 0.1
log: { level: warn, accesslog: { disabled: true } }
storage:
  filesystem: { rootdirectory: ${DATA} }
  delete: { enabled: true }
http:
  addr: "127.0.0.1:${port}"
  relativeurls: true
  tls: { certificate: ${CERTIFICATE}, key: ${KEY}, clientcas: [${AUTHORITY}] }
`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
