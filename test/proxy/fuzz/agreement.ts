import { METHODS } from 'node:http'
import type { Message, Reading } from './message.ts'
import { NodeRequestReader, readAnswerAsNode } from './node-reader.ts'
import { readAnswer, readRequests, type RelayMessage, type RelayReading } from './relay-reader.ts'

/** Fields that the relay removes from every message. */
const DROPPED = /^(?:connection|keep-alive|proxy-connection|te|http2-settings|upgrade|x-request-id)$/i
/** And from requests: names that forge its own, and spellings with underscores of all that mean something to it. */
const DROPPED_REQUEST =
  /^(?:x[-_]forwarded[-_].*|forwarded|proxy|x-real-ip|(?:x-|x-cluster-|true-|fastly-)?client-ip|cf-connecting-ip(?:v6)?|x-(?:original-)?host|x-original-url|x-rewrite-url|expect|host|content[-_]length|transfer[-_]encoding|.*_.*)$/i
/** And from answers that may have no body. */
const DROPPED_ANSWER = /^(?:content[-_]length|transfer[-_]encoding|.*_.*)$/i

/** Pieces of `bytes` that end at `cuts`. */
export function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  return [...cuts, bytes.length]
    .map((end, index) => bytes.subarray(cuts[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0)
}

function namedByConnection(fields: Message['fields']): Set<string> {
  const values = fields.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value)
  return new Set(
    values
      .join(',')
      .split(',')
      .map((name) => name.trim().toLowerCase()),
  )
}

/** What `kept` has that `all` lacks, in this order; or what it lacks without a reason. */
function fieldFault(kept: Message['fields'], all: Message['fields'], dropped: RegExp): string | null {
  const named = namedByConnection(all)
  let next = 0
  for (const [name, value] of all) {
    const found = kept[next]
    if (found && found[0] === name && found[1].toLowerCase() === value.toLowerCase()) next++
    else if (!DROPPED.test(name) && !dropped.test(name) && !named.has(name.toLowerCase()))
      return `${name} is lost`
  }
  return next === kept.length ? null : `${kept[next]!.join(': ')} is in other words`
}

function messageFault(ours: Message, theirs: Message | undefined, dropped: RegExp): string | null {
  if (!theirs) return `${ours.start} is no message to node`
  if (ours.start !== theirs.start) return `${ours.start} is ${theirs.start} to node`
  if (ours.complete && !theirs.complete) return `${ours.start} is not complete to node`
  if (ours.complete && ours.body !== theirs.body) return `the body of ${ours.start} is another to node`
  return fieldFault(ours.fields, theirs.fields, dropped)
}

/** How the relay's reading differs from node's; null if everything that the relay accepts is the same to node. */
function faultOf(ours: RelayReading, theirs: Reading, dropped: RegExp): string | null {
  for (const [index, message] of ours.messages.entries()) {
    const fault = messageFault(message, theirs.messages[index], dropped)
    if (fault) return `${fault} (${theirs.fault ?? 'which accepts it'})`
  }
  const last = ours.messages.at(-1)
  if (ours.fault === null && !last?.closes && theirs.messages.length > ours.messages.length)
    return `node reads ${theirs.messages.length} messages in place of ${ours.messages.length}`
  return null
}

const known = new Set(METHODS)
const node = new NodeRequestReader()

/** Node reads Proxy-Connection as Connection. To the relay it is a mistake without a meaning (RFC 9112 C.2.2). */
function hasProxyConnection(input: Buffer): boolean {
  return /proxy-connection/i.test(input.toString('latin1'))
}

/** What comes before the first message that `goesWider`: there the relay accepts more than node, with a reason. */
function until(reading: RelayReading, goesWider: (message: RelayMessage) => boolean): RelayReading {
  const first = reading.messages.findIndex(goesWider)
  return first < 0 ? reading : { messages: reading.messages.slice(0, first), fault: 'wider' }
}

/** To the relay a method is a name that an upstream may know; node refuses those that it does not know itself. */
function hasUnknownMethod({ start }: Message): boolean {
  return !known.has(start.split(' ', 1)[0]!)
}

/** Bytes over 127 in a target are malformed, and yet sent by tools such as curl: upstreams decide about them. */
function hasForeignTarget({ start }: Message): boolean {
  return /[\x80-\xff]/.test(start)
}

/** Whether node rejects a request that the relay passes on. */
export function refusedByNode(message: Message): boolean {
  return hasUnknownMethod(message) || hasForeignTarget(message)
}

/** Node stops reading after an upgrade that it does not take; the relay waits for the upstream's answer and continues. */
export function offersUpgrade({ upgrades }: RelayMessage): boolean {
  return upgrades
}

/** Node takes `Connection: close` in an interim answer for the end, though a final one must follow (RFC 9110 15.2). */
function endsBeforeTheEnd({ start, closes }: RelayMessage): boolean {
  return start.startsWith('1') && closes
}

/** Node returns an absolute target as it came; the relay passes on its origin form (RFC 9112 3.2.1). */
function inOriginForm(message: Message): Message {
  const start = message.start.replace(/ https?:\/\/[^/?]*([/?]?)/i, (_absolute, next: string) =>
    next === '/' ? ' /' : ` /${next}`,
  )
  return { ...message, start }
}

/** How the relay and node disagree about what a client sends, and about the relay's output; null if they agree. */
export async function requestFault(input: Buffer, cuts: readonly number[]): Promise<string | null> {
  const whole = readRequests(input)
  const inPieces = readRequests(input, cuts)
  if (JSON.stringify(inPieces) !== JSON.stringify(whole)) return 'in pieces it is read otherwise'
  if (hasProxyConnection(input)) return null
  const ours = until(inPieces, (message) => refusedByNode(message) || offersUpgrade(message))
  const { messages, fault: refusal } = await node.read(piecesOf(input, cuts))
  const theirs = { messages: messages.map(inOriginForm), fault: refusal }
  const fault = faultOf(ours, theirs, DROPPED_REQUEST)
  if (fault) return fault
  for (const message of inPieces.messages) {
    if (refusedByNode(message)) continue
    const read = await node.read([Buffer.from(message.forwarded, 'latin1')])
    const [only] = read.messages
    const wrong = messageFault(message, only, DROPPED_REQUEST)
    if (wrong) return `sent on, ${wrong}`
    if (read.messages.length !== 1) return `sent on, it is ${read.messages.length} requests`
    if (message.complete && read.fault) return `sent on, it ends in ${read.fault}`
  }
  return null
}

/** Like `requestFault`, for answers of an upstream. */
export async function answerFault(
  method: string,
  input: Buffer,
  cuts: readonly number[],
): Promise<string | null> {
  const whole = readAnswer(method, input)
  const inPieces = readAnswer(method, input, cuts)
  if (JSON.stringify(inPieces) !== JSON.stringify(whole)) return 'in pieces it is read otherwise'
  if (hasProxyConnection(input)) return null
  const ours = until(inPieces, endsBeforeTheEnd)
  const theirs = await readAnswerAsNode(method, piecesOf(input, cuts))
  const fault = faultOf(ours, theirs, DROPPED_ANSWER)
  if (fault || ours.fault || ours.messages.length === 0) return fault
  const forwarded = Buffer.from(ours.messages.map((message) => message.forwarded).join(''), 'latin1')
  const read = await readAnswerAsNode(method, [forwarded])
  const wrong = faultOf(ours, read, DROPPED_ANSWER)
  return wrong && `sent on, ${wrong}`
}
