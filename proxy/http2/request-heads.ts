import { ascii, put, putText } from '../http1/bytes.ts'
import { MAX_FIELDS, MAX_HEAD_BYTES, MAX_REQUEST_LINE_BYTES } from '../http1/head.ts'
import { TABLE_BYTES } from './dynamic-table.ts'
import { KIND, type Field } from './field.ts'
import { MAX_PAIRS, RequestFields, isPath, type RequestFraming, type RequestHead } from './request-fields.ts'

/** A list of fields has 32 bytes for each that a head has not. */
const HEAD_BYTES = MAX_HEAD_BYTES + 8 * 1024
/** What is repeated stands in a table: of a longer head some of it does not. */
const MAX_REPEATED_BYTES = TABLE_BYTES
/** More fields than most have: what a block of many held is not kept for the next. */
const MAX_KEPT_FIELDS = 100
const SPACE = ascii(' ')
const LINE_END = ascii(' HTTP/1.1\r\n')

/** One block is read at a time, and what is made of it is read at once. */
const sorted = new RequestFields()
const fields: Field[] = []
let count = 0
let head: Buffer | null = null

/** A request whose fields, but for the path, may be the next one's too. */
interface Repeated {
  readonly fields: readonly Field[]
  /** The path's place among them. */
  readonly pathAt: number
  readonly method: string
  readonly hasBody: boolean
  readonly framing: RequestFraming
  /** The lines after the first; null until they have come again. */
  readonly lines: Uint8Array | null
}

/**
 * Makes heads of HTTP/1.1 of the header blocks of one connection. A client that asks for one thing after another repeats
 * most fields by their index: they are the same objects as before then, and what was made of them is the same.
 */
export class RequestHeads {
  /** The bytes of the head that was made last. */
  length = 0
  #before: Repeated | null = null

  /** Begins with the next block. */
  begin(): void {
    count = 0
    if (fields.length > MAX_KEPT_FIELDS) fields.length = 0
  }

  readonly take = (field: Field): void => {
    // One too many is enough to refuse them.
    if (count <= MAX_PAIRS) fields[count++] = field
  }

  /** Where the head stands that was made last, of whichever connection. */
  get bytes(): Buffer {
    return (head ??= Buffer.allocUnsafeSlow(HEAD_BYTES))
  }

  /** Makes the head of a request, with a body to come or not; null when it is malformed. */
  make(hasBody: boolean): RequestFraming | null {
    const before = this.#before
    const isSame = before !== null && isRepeated(before, hasBody)
    if (isSame && before.lines) return this.#repeat(before, before.lines)
    sort()
    const made = sorted.head(hasBody)
    if (!made) return null
    this.length = this.bytes.write(made.text, 'latin1')
    this.#before = this.#remembered(made, hasBody, isSame)
    return made
  }

  #repeat({ pathAt, method, framing }: Repeated, lines: Uint8Array): RequestFraming | null {
    const path = fields[pathAt]!.value
    if (!isPath(path, method)) return null
    const { bytes } = this
    const pathStart = put(bytes, putText(bytes, 0, method), SPACE)
    const linesStart = put(bytes, putText(bytes, pathStart, path), LINE_END)
    bytes.set(lines, linesStart)
    this.length = linesStart + lines.length
    return framing
  }

  /** What is remembered of the head that was made: its lines when they have come twice, as most do not. */
  #remembered(made: RequestHead, hasBody: boolean, isSame: boolean): Repeated | null {
    const { text, linesStart, body, length, priority } = made
    if (linesStart === 0 || linesStart > MAX_REQUEST_LINE_BYTES || count > MAX_FIELDS) return null
    if (text.length - linesStart > MAX_REPEATED_BYTES) return null
    const framing = { body, length, priority }
    const pathAt = placeOf(KIND.path)
    const method = fields[placeOf(KIND.method)]!.value
    const lines = isSame ? Uint8Array.prototype.slice.call(this.bytes, linesStart, this.length) : null
    return { fields: fields.slice(0, count), pathAt, method, hasBody, framing, lines }
  }

  /** The fields after a body as lines; null when they are malformed. */
  trailers(): string | null {
    sort()
    return sorted.trailers()
  }

  /** Remembers nothing. */
  forget(): void {
    this.#before = null
  }
}

function sort(): void {
  sorted.begin()
  for (let index = 0; index < count; index++) sorted.take(fields[index]!)
}

/** The place of the first field of a kind that has come. */
function placeOf(kind: number): number {
  return fields.findIndex((field) => field.kind === kind)
}

function isRepeated({ fields: before, pathAt, hasBody: had }: Repeated, hasBody: boolean): boolean {
  if (before.length !== count || had !== hasBody) return false
  for (let index = 0; index < count; index++)
    if (fields[index] !== before[index] && index !== pathAt) return false
  const path = fields[pathAt]!
  return path.kind === KIND.path && path.value.length <= MAX_REQUEST_LINE_BYTES
}
