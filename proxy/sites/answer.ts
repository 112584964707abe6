import { monotonicMs } from '../clock.ts'
import { changeFields, type FieldChanges } from '../http1/change-fields.ts'
import { METHOD_GET, METHOD_HEAD } from '../http1/request-head.ts'
import { log, messageOf } from '../log.ts'
import { NO_SUCH_PAGE, NOT_READABLE, SITE_METHODS, refusal, type Answer } from '../pages/answers.ts'
import { PIECE_BYTES, type Layout, type Page } from '../wire/page.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'
import { precondition, rangeOf, type ByteRange } from './conditions.ts'
import { sendRange, type Receiver } from './download.ts'
import { putHead } from './head.ts'
import type { OpenFiles } from './open-files.ts'
import type { SiteRequest } from './request.ts'
import { chooseRepresentation, type Representation, type Verdict } from './resolution.ts'
import { withQuery } from './rules.ts'
import type { Site } from './site.ts'

/** How browsers may cache a redirect: only with revalidation, since the next deploy may have another. */
const REDIRECT_FIELDS = 'Cache-Control: public, max-age=0, must-revalidate\r\n'
const NO_LINES = new Uint8Array(0)

/** The client of an answer from a site. */
export interface SiteClient {
  readonly wire: Wire
  readonly request: { readonly headOnly: boolean; readonly requestId: string }
  /** For how many seconds browsers must use only TLS; 0 omits the field. */
  readonly hstsSeconds: number
  /** How the fields of the answer change; null if they do not. */
  readonly fieldChanges: FieldChanges | null
  /** Whether the answer must say that the connection ends after it. */
  closesAfterAnswer(status: number): boolean
  /** The answer's head, of so many bytes, is about to be written. */
  answerBegins(status: number, headBytes: number): void
  /** The client now has to take what was written. */
  siteSent(): void
  /** The answer is complete. */
  finish(): void
  /** There is no file to answer with: sends this answer instead. */
  refuseAnswer(answer: Answer, accept: string): void
}

/** The answer to one request to a site: from memory at once, otherwise once the disk has returned the file. */
export class SiteAnswer implements Receiver {
  /** Whether the client is gone. */
  canceled = false
  readonly #client: SiteClient
  readonly #site: Site
  readonly #files: OpenFiles
  readonly #request: SiteRequest
  /** Writes the head into the slab, before the first bytes of a file. */
  #putHead: (() => number) | null = null
  #whenDrained: (() => void) | null = null

  constructor(client: SiteClient, site: Site, files: OpenFiles, request: SiteRequest) {
    this.#client = client
    this.#site = site
    this.#files = files
    this.#request = request
  }

  get layout(): Layout {
    return this.#client.wire.frames ? 'framed' : 'plain'
  }

  begin(): void {
    const { path, method, hasBody } = this.#request
    if (method !== METHOD_GET && method !== METHOD_HEAD) return this.#refuse(SITE_METHODS)
    // A body has no meaning here, and could be meant as a smuggled request (RFC 9110 9.3.1).
    if (hasBody) return this.#refuse(refusal(400))
    const known = this.#site.known(path)
    if (known) return this.#answer(known)
    this.#await(this.#site.resolve(path), (verdict) => this.#answer(verdict))
  }

  /** The client has taken everything that was written. */
  onDrain(): void {
    const whenDrained = this.#whenDrained
    this.#whenDrained = null
    whenDrained?.()
  }

  /** Stops reading and sending. */
  cancel(): void {
    this.canceled = true
    this.onDrain()
  }

  room(): number | Promise<number> {
    return this.#client.wire.room() || this.#awaitRoom()
  }

  /** Waits for room. The client gets the head in the meantime. */
  async #awaitRoom(): Promise<number> {
    this.#sendHead()
    let room = 0
    while (room === 0 && !this.canceled) {
      await this.#drained()
      if (!this.canceled) room = this.#client.wire.room()
    }
    return room
  }

  take(page: Page, start: number, end: number, last: boolean): Promise<void> | null {
    this.#sendHead()
    const sent = this.#client.wire.writePage(page, start, end, last)
    this.#client.siteSent()
    return sent ? null : this.#drained()
  }

  #sendHead(): void {
    if (this.#putHead) this.#client.wire.writeSlab(this.#putHead())
    this.#putHead = null
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => (this.#whenDrained = resolve))
  }

  #answer(verdict: Verdict): void {
    switch (verdict.kind) {
      case 'malformed':
        return this.#refuse(refusal(400))
      case 'missing':
        return this.#refuse(NO_SUCH_PAGE)
      case 'redirect': {
        const location = withQuery(verdict.location, this.#request.query)
        return this.#sendEmpty(verdict.status, NO_LINES, `Location: ${location}\r\n${REDIRECT_FIELDS}`)
      }
      case 'file':
        return this.#answerFile(
          verdict.status,
          chooseRepresentation(verdict.representations, this.#request.acceptEncoding),
        )
    }
  }

  /** Sends a page of the relay's own. */
  #refuse(answer: Answer): void {
    this.#client.refuseAnswer(answer, this.#request.accept ?? '')
  }

  #answerFile(status: 200 | 404, representation: Representation): void {
    const { file, fields } = representation
    const whole = { start: 0, end: file.size }
    // Conditions do not apply to a missing file (RFC 9110 13.2.1).
    if (status === 404) return this.#send(404, representation, whole)
    const condition = precondition(this.#request, file)
    if (condition !== 200) return this.#sendEmpty(condition, fields.validators)
    const range = this.#client.request.headOnly ? null : rangeOf(this.#request, file.size, file)
    if (range === 'unsatisfiable')
      return this.#sendEmpty(416, fields.validators, `Content-Range: bytes */${file.size}\r\n`)
    this.#send(range ? 206 : 200, representation, range ?? whole)
  }

  #send(status: number, { file, folder, fields }: Representation, { start, end }: ByteRange): void {
    const part = status === 206 ? `Content-Range: bytes ${start}-${end - 1}/${file.size}\r\n` : ''
    const more = `${part}Content-Length: ${end - start}\r\n`
    if (this.#client.request.headOnly || end === start)
      return this.#finishWith(this.#begin(status, fields.all, more))
    const { layout } = this
    if (!file.small && !file.contents[layout]) folder.keepSoon(file, layout)
    file.used = true
    const kept = file.small ? file.pageAt(0, 'framed') : null
    if (kept) return this.#sendPage(status, fields.all, more, kept, start, end)
    if (file.small && this.#takes(end - start))
      return this.#await(folder.read(file, 'framed'), ([page]) =>
        this.#sendPage(status, fields.all, more, page!, start, end),
      )
    this.#putHead = () => this.#begin(status, fields.all, more)
    this.#await(sendRange(this.#files, file, { start, end }, this), () => this.#client.finish())
  }

  /** Whether the client takes so many bytes at once, or they are few enough to wait. */
  #takes(bytes: number): boolean {
    const { wire } = this.#client
    return !wire.frames || bytes <= PIECE_BYTES || wire.room() >= bytes
  }

  /** Sends an answer without a body. */
  #sendEmpty(status: number, lines: Uint8Array, more = ''): void {
    this.#finishWith(this.#begin(status, lines, status === 304 ? more : `${more}Content-Length: 0\r\n`))
  }

  /** Begins the answer: writes its head into the slab, with room for so many bytes of a body. Returns its end. */
  #begin(status: number, lines: Uint8Array, more: string, contentBytes = 0): number {
    const client = this.#client
    const close = client.closesAfterAnswer(status)
    const { hstsSeconds, fieldChanges } = client
    const { requestId } = client.request
    const head = { status, lines, more, requestId, hstsSeconds, close }
    let end = putHead(head, (fieldChanges?.added.length ?? 0) + contentBytes)
    if (fieldChanges) end = changeFields(slab.buffer, slab.at, end, fieldChanges)
    client.answerBegins(status, end - slab.at)
    return end
  }

  /** Sends the whole answer at once. */
  #sendPage(status: number, lines: Uint8Array, more: string, page: Page, start: number, end: number): void {
    const { wire } = this.#client
    // With frames, head and body are joined anyway; otherwise this copy puts both into one write.
    const copied = wire.frames ? 0 : end - start
    const headEnd = this.#begin(status, lines, more, copied)
    if (copied > 0) return this.#finishWith(page.copy(slab.buffer, headEnd, start, end))
    wire.writeSlab(headEnd)
    this.#finish(wire.writePage(page, start, end, true))
  }

  /** Sends the slab's bytes up to `to`, which are the whole answer. */
  #finishWith(to: number): void {
    this.#finish(this.#client.wire.writeSlab(to))
  }

  /** Finishes the answer once the client has taken all of it. */
  #finish(isTaken: boolean): void {
    const client = this.#client
    client.siteSent()
    if (isTaken) client.finish()
    else this.#whenDrained = () => this.canceled || client.finish()
  }

  /** Continues with what the disk returns, unless the client has left in the meantime. */
  #await<Given>(given: Promise<Given>, proceed: (given: Given) => void): void {
    given.then(
      (value) => {
        if (!this.canceled) proceed(value)
      },
      (error: unknown) => {
        if (this.canceled) return
        logFailure(error)
        this.#refuse(NOT_READABLE)
      },
    )
  }
}

/** However many requests fail, one line is logged per this period. */
const LOG_EVERY_MS = 1_000
let loggedAt = -Infinity

function logFailure(error: unknown): void {
  const now = monotonicMs()
  if (now - loggedAt < LOG_EVERY_MS) return
  loggedAt = now
  log('error', 'a file of a site cannot be read', { error: messageOf(error) })
}
