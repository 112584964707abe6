import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { PRIVATE_PASSWORD } from './remotes.ts'
import { PRIVATE_USER, serveGit } from './smart-http.ts'

/** What the server was asked: a batch, an object, or any request of git. */
interface Asked {
  what: 'batch' | 'object' | 'git'
  path: string
  authorization: string | null
}

/** How it answers, if that is not as documented. */
export interface LfsBehaviour {
  isPrivate?: boolean
  /** Instead of an answer to a batch. */
  batchStatus?: number
  batchBody?: string
  /** Where objects are, instead of here. */
  hrefOf?: (oid: string) => string
  /** Answers a request for an object; the content is not checked. */
  onObject?: (response: ServerResponse, content: Buffer) => void
}

/**
 * A smart HTTP git host that stores files by the batch API of Git LFS with the basic transfer (git-lfs, docs/api/batch.md
 * and basic-transfers.md): `POST <repository>.git/info/lfs/objects/batch`, then each object with a key of its own.
 */
export class LfsRemote {
  readonly objects = new Map<string, Buffer>()
  readonly asked: Asked[] = []
  behaviour: LfsBehaviour = {}
  readonly #directory: string
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async start(directory: string): Promise<LfsRemote> {
    const remote = new LfsRemote(directory)
    await once(remote.#server.listen(0, '127.0.0.1'), 'listening')
    return remote
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Stores a content; returns its pointer (git-lfs, docs/spec.md). */
  keep(content: string | Buffer): string {
    const bytes = Buffer.from(content)
    const oid = createHash('sha256').update(bytes).digest('hex')
    this.objects.set(oid, bytes)
    return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes.length}\n`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!
    const what = path.endsWith('/objects/batch') ? 'batch' : path.startsWith('/objects/') ? 'object' : 'git'
    const authorization = request.headers.authorization ?? null
    this.asked.push({ what, path, authorization })
    const wanted = `Basic ${Buffer.from(`${PRIVATE_USER}:${PRIVATE_PASSWORD}`).toString('base64')}`
    if (what === 'object') return this.#giveObject(request, response)
    if (this.behaviour.isPrivate && authorization !== wanted)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    if (what === 'batch') return await this.#giveBatch(request, response)
    serveGit(request, response, this.#directory)
  }

  async #giveBatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { batchStatus = 200, batchBody, hrefOf } = this.behaviour
    const asked = JSON.parse(await text(request)) as {
      operation: string
      objects: { oid: string; size: number }[]
    }
    const isMeant =
      asked.operation === 'download' &&
      asked.objects.length <= 100 &&
      request.headers.accept === 'application/vnd.git-lfs+json'
    const objects = asked.objects.map(({ oid, size }) => {
      const href = hrefOf?.(oid) ?? `${this.url}/objects/${oid}`
      const download = { href, header: { authorization: `Key ${oid}` }, expires_in: 60 }
      return this.objects.has(oid)
        ? { oid, size, actions: { download } }
        : { oid, size, error: { code: 404, message: 'Object does not exist' } }
    })
    response.writeHead(isMeant ? batchStatus : 422, { 'content-type': 'application/vnd.git-lfs+json' })
    response.end(batchBody ?? JSON.stringify({ transfer: 'basic', objects }))
  }

  #giveObject(request: IncomingMessage, response: ServerResponse): void {
    const oid = request.url!.slice('/objects/'.length)
    const content = this.objects.get(oid) ?? Buffer.alloc(0)
    if (this.behaviour.onObject) return this.behaviour.onObject(response, content)
    if (request.headers.authorization !== `Key ${oid}`) return void response.writeHead(403).end()
    response.writeHead(200, { 'content-length': content.length }).end(content)
  }
}
