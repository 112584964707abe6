import { ascii, put, putText } from '../http1/bytes.ts'
import { MAX_FIELDS, MAX_HEAD_BYTES, MAX_REQUEST_LINE_BYTES } from '../http1/head.ts'
import { TABLE_BYTES } from './dynamic-table.ts'
import { KIND, type Field } from './field.ts'
import { MAX_PAIRS, RequestFields, isPath, type RequestFraming, type RequestHead } from './request-fields.ts'

/** Room for a head: in a list of fields, each counts 32 bytes that a head does not have. */
const HEAD_BYTES = MAX_HEAD_BYTES + 8 * 1024
/** Repeated lines come from a table: a longer head cannot be repeated completely. */
const MAX_REPEATED_BYTES = TABLE_BYTES
/** More fields than most requests have: the array of a larger block is not kept. */
const MAX_KEPT_FIELDS = 100
const SPACE = ascii(' ')
const LINE_END = ascii(' HTTP/1.1\r\n')

/** One block is read at a time, and its result is used at once. */
const sorted = new RequestFields()
const fields: Field[] = []
let count = 0
let head: Buffer | null = null

/** A request whose fields, except for the path, may be repeated by the next one. */
interface Repeated {
  readonly fields: readonly Field[]
  /** The index of the path among the fields. */
  readonly pathAt: number
  readonly method: string
  readonly hasBody: boolean
  readonly framing: RequestFraming
  /** The header lines; null until they have come twice. */
  readonly lines: Uint8Array | null
}

/**
 * Turns the header blocks of one connection into HTTP/1.1 heads. A client that makes one request after another repeats most
 * fields by their index. They are then the same objects as before, and so the lines made from them are reused.
 */
export class RequestHeads {
  /** The length of the last head. */
  length = 0
  #before: Repeated | null = null

  /** Gets ready for the next block. */
  begin(): void {
    count = 0
    if (fields.length > MAX_KEPT_FIELDS) fields.length = 0
  }

  readonly take = (field: Field): void => {
    // One more than the limit is enough for refusing them.
    if (count <= MAX_PAIRS) fields[count++] = field
  }

  /** The buffer with the last head of any connection. */
  get bytes(): Buffer {
    return (head ??= Buffer.allocUnsafeSlow(HEAD_BYTES))
  }

  /** Writes the head of a request; `hasBody` says whether a body follows. Returns null if it is malformed. */
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

  /** Returns what to remember of the head. Its lines are kept only when they came twice, which most do not. */
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

  /** Returns the fields after a body as lines; null if they are malformed. */
  trailers(): string | null {
    sort()
    return sorted.trailers()
  }

  /** Forgets the last request. */
  forget(): void {
    this.#before = null
  }
}

function sort(): void {
  sorted.begin()
  for (let index = 0; index < count; index++) sorted.take(fields[index]!)
}

/** Returns the index of the first field of a kind. */
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
