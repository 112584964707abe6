import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { pipeline } from 'node:stream'
import type { Identity } from '#agent/protocol.ts'
import { answerOf, textWithin } from '#server/network/answers.ts'
import { REGISTRY_NAME } from './registry-identities.ts'

/** What pulls ask for (OCI image specification, Docker's image manifest version 2, schema 2). */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
/** The registry is on this host. */
const ANSWER_MS = 30_000
/** It reads a large layer again before it says that it has it. */
const STORED_MS = 10 * 60_000
const MAX_ANSWER_BYTES = 4 * 1024 ** 2
/** The most names that a registry lists at once. */
const PAGE = 1_000
/** Enough of an answer to see what is wrong. */
const SHOWN_CHARACTERS = 200

interface Answer {
  status: number
  digest: string | null
  body: string
}

/** Requests to the registry at a port of loopback (OCI distribution specification), which answers the server alone. */
export class RegistryCalls {
  readonly #where: RequestOptions

  constructor(port: number, { certificate, key, authority }: Identity) {
    this.#where = {
      ...{ host: '127.0.0.1', port, servername: REGISTRY_NAME },
      ...{ cert: certificate, key, ca: authority },
    }
  }

  /** Whether it answers. */
  async answers(): Promise<boolean> {
    return this.#ask('GET', '/v2/').then(
      ({ status }) => status === 200,
      () => false,
    )
  }

  /** The digest of what a tag names; null when there is no such tag. */
  async digestOf(repository: string, tag: string): Promise<string | null> {
    const { status, digest } = await this.#ask('HEAD', `/v2/${repository}/manifests/${tag}`)
    return status === 200 ? digest : null
  }

  /** Every repository, and its tags. Throws an Error when it refuses. */
  async content(): Promise<{ repository: string; tags: string[] }[]> {
    const found: { repository: string; tags: string[] }[] = []
    for (let last = ''; ; last = found.at(-1)!.repository) {
      const page = await this.#json<{ repositories: string[] }>(`/v2/_catalog?n=${PAGE}&last=${last}`)
      for (const repository of page?.repositories ?? []) {
        const list = await this.#json<{ tags: string[] | null }>(`/v2/${repository}/tags/list`)
        found.push({ repository, tags: list?.tags ?? [] })
      }
      if ((page?.repositories.length ?? 0) < PAGE) return found
    }
  }

  async remove(repository: string, digest: string): Promise<void> {
    await this.#ask('DELETE', `/v2/${repository}/manifests/${digest}`)
  }

  /** Answers a node's request for an image with what the registry answers. */
  pass(asked: IncomingMessage, response: ServerResponse): void {
    const { accept, range } = asked.headers
    const wanted = { ...(accept && { accept }), ...(range && { range }) }
    this.#send(asked, response, wanted, ANSWER_MS).end()
  }

  /** The same for a request of the own engine, which may bring something. */
  passAll(asked: IncomingMessage, response: ServerResponse): void {
    const { authorization: _, ...headers } = asked.headers
    asked.pipe(this.#send(asked, response, headers, STORED_MS))
  }

  #send(
    { method, url }: IncomingMessage,
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    timeout: number,
  ): ClientRequest {
    const passed = request({ ...this.#where, method, path: url, headers, timeout }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response, () => {})
    })
    passed.on('timeout', () => passed.destroy())
    passed.on('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502, { 'content-length': 0 }).end()
    })
    response.on('close', () => passed.destroy())
    return passed
  }

  /** Null for what it does not have. */
  async #json<T>(path: string): Promise<T | null> {
    const { status, body } = await this.#ask('GET', path)
    if (status === 404) return null
    if (status !== 200)
      throw new Error(`the registry answers ${status} to ${path}: ${body.slice(0, SHOWN_CHARACTERS)}`)
    return JSON.parse(body) as T
  }

  async #ask(method: string, path: string): Promise<Answer> {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const asked = request({ ...this.#where, method, path, signal, headers: { accept: MANIFESTS } })
    asked.end()
    const answer = await answerOf(asked)
    const body = await textWithin(answer, MAX_ANSWER_BYTES)
    if (body === null) throw new Error("the registry's answer is too long")
    const digest = answer.headers['docker-content-digest']
    return { status: answer.statusCode ?? 0, digest: typeof digest === 'string' ? digest : null, body }
  }
}
