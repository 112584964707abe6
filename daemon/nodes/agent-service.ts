import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { ENGINE_SOCKET, IDENTITY_FILE, VARIABLES } from '#agent/protocol.ts'
import { useContext } from '#server/context.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { NodeRow } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'
import { authorityCertificate, certifyNode, endOf, isEndingAt } from './authority.ts'

/** Where engines listen, on every distribution that packages one. */
const SOCKET_OF_NODES = '/var/run/docker.sock'
const AUTHORITY_LABEL = 'deployer.authority'
const ENDS_LABEL = 'deployer.ends'
const IMAGE_LABEL = 'deployer.image'
const DIGEST_LABEL = 'deployer-image.digest'
const PROGRAM = 'node-agent.mjs'
const MEMORY_BYTES = 192 * 1024 ** 2
/** The digest that names an image or a secret; long enough never to be the same by chance. */
const SHORT = 16

let program: string | undefined

/** Called once at start with the path of the agent's program. */
export function provideAgentProgram(path: string): void {
  program = path
}

/** The image of the agents, and the services that run it. */
export class AgentServices {
  readonly #engine: Engine
  #image: Promise<string> | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The name of the image; a new version of the server has another one. */
  get imageName(): string {
    return `${this.#engine.images.nodeRepository}:${useContext().version}`
  }

  /** The id of the image, which is built when its content has changed. Throws `runtime_error`. */
  image(): Promise<string> {
    this.#image ??= this.#provideImage().catch((error: unknown) => {
      this.#image = null
      throw error
    })
    return this.#image
  }

  /** Forgets the image, which was removed. */
  forget(): void {
    this.#image = null
  }

  /**
   * Runs the agent on a node as this server wants it; changes nothing if it already does. A node that was not reached keeps the
   * image that it has, since it may not have another. Throws `runtime_error`.
   */
  async provide(
    node: Pick<NodeRow, 'id' | 'swarm_id' | 'address'>,
    server: { address: string; port: number },
    isReached: boolean,
  ): Promise<void> {
    const known = (await this.#engine.swarm.services()).find(({ name }) => name === serviceOf(node.id))
    const image = (isReached ? undefined : known?.labels[IMAGE_LABEL]) ?? (await this.image())
    const secret = await this.#secret(node.id)
    const spec = {
      image,
      secret: secret.name,
      server: `${server.address}:${server.port}`,
      node: node.swarm_id!,
      address: node.address!,
    }
    const digest = digestOf(JSON.stringify(spec))
    if (known?.labels['deployer.spec'] === digest) return
    await this.#engine.swarm.provideService({
      name: serviceOf(node.id),
      labels: {
        ...{ 'deployer.kind': 'node', 'deployer.node': node.id },
        ...{ 'deployer.spec': digest, [IMAGE_LABEL]: image },
      },
      nodeId: spec.node,
      image,
      env: {
        [VARIABLES.port]: String(server.port),
        [VARIABLES.server]: spec.server,
        [VARIABLES.serverId]: useContext().serverId,
        [VARIABLES.address]: spec.address,
      },
      command: ['node', '--max-semi-space-size=1', `/${PROGRAM}`],
      secret: { id: secret.id, name: secret.name, file: IDENTITY_FILE.split('/').at(-1)! },
      mount: { source: SOCKET_OF_NODES, target: ENGINE_SOCKET },
      memoryBytes: MEMORY_BYTES,
    })
    await this.#removeSecrets(node.id, secret.name)
  }

  /** Brings this version's image to a node, so that its agent can be replaced. Does nothing if the node has it. */
  async bring(to: Engine, signal: AbortSignal): Promise<void> {
    const id = await this.image()
    if (!(await to.images.inspect(id)))
      await to.transfer.load(await this.#engine.transfer.save(this.imageName, signal))
    for (const { images } of [to, this.#engine]) await images.removeOldNodePrograms(this.imageName)
  }

  /** Why a node's agent does not run; null when it does, or nobody knows. */
  fault(nodeId: string): Promise<string | null> {
    return this.#engine.swarm.taskFault(serviceOf(nodeId)).catch(() => null)
  }

  /** Ends a node's agent. */
  async remove(nodeId: string): Promise<void> {
    await this.#engine.swarm.removeService(serviceOf(nodeId))
    await this.#removeSecrets(nodeId)
  }

  /** The secret of a node with its certificate and key: the one that there is, or a new one in time before its end. */
  async #secret(nodeId: string): Promise<{ id: string; name: string }> {
    const authority = digestOf(await authorityCertificate())
    const known = (await this.#secretsOf(nodeId)).find(
      ({ labels }) => labels[AUTHORITY_LABEL] === authority && !isEndingAt(Number(labels[ENDS_LABEL])),
    )
    if (known) return known
    const identity = await certifyNode(nodeId)
    const name = `${prefixOf(nodeId)}${digestOf(identity.certificate)}`
    const labels = { [AUTHORITY_LABEL]: authority, [ENDS_LABEL]: String(endOf(identity.certificate)) }
    return { id: await this.#engine.swarm.createSecret(name, JSON.stringify(identity), labels), name }
  }

  async #secretsOf(nodeId: string): Promise<{ id: string; name: string; labels: Record<string, string> }[]> {
    return (await this.#engine.swarm.secrets()).filter(({ name }) => name.startsWith(prefixOf(nodeId)))
  }

  /** A task that is about to end may still have one: the next call removes it. */
  async #removeSecrets(nodeId: string, kept?: string): Promise<void> {
    for (const { id, name } of await this.#secretsOf(nodeId))
      if (name !== kept) await this.#engine.swarm.removeSecret(id).catch(() => {})
  }

  async #provideImage(): Promise<string> {
    if (program === undefined) throw new Error('the agent has no program')
    const base = useContext().options.nodeImage
    const content = readFileSync(program)
    const digest = digestOf(`${base}\n${content.toString('latin1')}`)
    const known = await this.#engine.images.inspect(this.imageName)
    if (known?.labels[DIGEST_LABEL] === digest) return known.id
    const dockerfile = `FROM ${base}\nCOPY ${PROGRAM} /${PROGRAM}\n`
    const archive = pack()
    archive.entry({ name: 'Dockerfile' }, dockerfile)
    // One time for all, so that a rebuild is the same image.
    archive.entry({ name: PROGRAM, mtime: new Date(0) }, content)
    archive.finalize()
    try {
      return await this.#engine.images.build(
        Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }),
        {
          tag: this.imageName,
          dockerfile: 'Dockerfile',
          labels: { [DIGEST_LABEL]: digest },
          signal: useContext().stopping,
          onLine: () => {},
        },
      )
    } catch (error) {
      throw new AppError(
        'runtime_error',
        `the image for other nodes could not be built from ${base}: ${messageOf(error)}`,
        { cause: error },
      )
    }
  }
}

function serviceOf(nodeId: string): string {
  return `deployer-${nodeId}`
}

/** The beginning of the names of a node's secrets. */
function prefixOf(nodeId: string): string {
  return `deployer-${nodeId}-`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, SHORT)
}
