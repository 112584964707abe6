import { monotonicMs } from '../clock.ts'
import { SPACE, ascii, equalsIgnoringCase, latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'
import type { AccessLine } from '../protocol.ts'
import type { Instance } from '../routes/instance.ts'

/** What is written of texts that clients choose: the rest of a longer one tells nothing about the request. */
const MAX_PATH_CHARACTERS = 2_048
const MAX_USER_AGENT_CHARACTERS = 512
const MAX_ADDRESS_CHARACTERS = 64

const UNPRINTABLE = /[^ -~]/
const EACH_UNPRINTABLE = /[^ -~]/g
const USER_AGENT = ascii('user-agent')
const VERSION_CHARACTERS = ' HTTP/1.1\r\n'.length
/** Written of a request whose client left before its answer. */
const CLIENT_LEFT = 499

/** A request of a service with an access log, from its head to its end. */
export class AccessEntry {
  readonly #service: string
  readonly #method: string
  readonly #host: string
  readonly #path: string
  readonly #ip: string
  readonly #userAgent: string | null
  readonly #requestId: string
  readonly #arrivedAt: number
  #instance: string | null = null
  #status = CLIENT_LEFT
  /** Where in what is written to the client the body of the answer begins. */
  #bodyStart = -1

  /**
   * `output` has the copied head from `at`. `ip` is the address that instances get as X-Real-IP; `arrivedAt` is monotonic
   * milliseconds.
   */
  constructor(
    service: string,
    host: string,
    ip: string,
    output: Uint8Array,
    at: number,
    head: Head,
    { requestId, arrivedAt }: { requestId: string; arrivedAt: number },
  ) {
    const lineEnd = head.lines > 0 ? head.lineStarts[0]! : head.outputEnd
    const line = latin1(output, at, lineEnd - VERSION_CHARACTERS)
    const space = line.indexOf(' ')
    this.#service = service
    this.#host = host
    this.#ip = printable(ip, MAX_ADDRESS_CHARACTERS)
    this.#method = line.slice(0, space)
    this.#path = printable(line.slice(space + 1), MAX_PATH_CHARACTERS)
    this.#userAgent = userAgentOf(output, head)
    this.#requestId = requestId
    this.#arrivedAt = arrivedAt
  }

  /** The request is sent to an instance. */
  sentTo({ name }: Instance): void {
    this.#instance = name
  }

  /** The answer begins; its body comes after so many bytes that were ever written to the client. */
  answerBegins(status: number, bodyStart: number): void {
    this.#status = status
    this.#bodyStart = bodyStart
  }

  /** The line of the request, which has ended. `written` is how many bytes were ever written to the client. */
  line(written: number): AccessLine {
    return [
      this.#service,
      Date.now(),
      this.#method,
      this.#host,
      this.#path,
      this.#status,
      this.#bodyStart < 0 ? 0 : Math.max(0, written - this.#bodyStart),
      Math.round((monotonicMs() - this.#arrivedAt) * 10) / 10,
      this.#ip,
      this.#userAgent,
      this.#requestId,
      this.#instance,
    ]
  }
}

function userAgentOf(output: Uint8Array, head: Head): string | null {
  for (let index = 0; index < head.lines; index++) {
    const nameEnd = head.nameEnds[index]!
    if (!equalsIgnoringCase(output, head.lineStarts[index]!, nameEnd, USER_AGENT)) continue
    const end = (index + 1 < head.lines ? head.lineStarts[index + 1]! : head.outputEnd) - '\r\n'.length
    let start = nameEnd + 1
    while (start < end && output[start] === SPACE) start++
    return printable(latin1(output, start, end), MAX_USER_AGENT_CHARACTERS)
  }
  return null
}

/** A text as lines have it: bytes that are not printable ASCII as `\xC3`, and without the end of a long one. */
function printable(text: string, maxCharacters: number): string {
  const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}...` : text
  return UNPRINTABLE.test(short) ? short.replace(EACH_UNPRINTABLE, escaped) : short
}

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
