import type { Channel } from '../control/channel.ts'
import { SECTIONS, type Section, type TableMessage } from '../protocol.ts'

/** Characters of one message: a worker reads it within a millisecond, so requests can be served between messages. */
const MESSAGE_CHARACTERS = 32 * 1024

/** Entries with the JSON of their values; null removes one. */
type TextPart = Partial<Record<Section, [name: string, text: string | null][]>>

/** Writes a table as JSON messages, each short enough for its reader to process in one turn. */
export class MessageWriter {
  readonly #base: boolean
  #part = 0
  #entries: TextPart = {}
  #characters = 0

  constructor(base: boolean) {
    this.#base = base
  }

  /** Adds an entry. Returns a message when there is enough for one. */
  add(section: Section, name: string, text: string | null): string | null {
    ;(this.#entries[section] ??= []).push([name, text])
    this.#characters += name.length + (text?.length ?? 0)
    return this.#characters < MESSAGE_CHARACTERS ? null : this.#write('')
  }

  /** Returns the last message, with the JSON of the settings. */
  end(settings: string): string {
    return this.#write(`,"settings":${settings}`)
  }

  #write(more: string): string {
    const text = writeMessage(this.#part++, this.#base, this.#entries, more)
    this.#entries = {}
    this.#characters = 0
    return text
  }
}

function writeMessage(part: number, base: boolean, entries: TextPart, more: string): string {
  const sections: string[] = []
  for (const section of SECTIONS) {
    const texts = entries[section]?.map(([name, text]) => `[${JSON.stringify(name)},${text}]`)
    if (texts) sections.push(`"${section}":[${texts.join()}]`)
  }
  return `{"part":${part},"base":${base},"entries":{${sections.join()}}${more}}`
}

/** Converts messages for older programs, which expect targets as objects, not as JSON text. */
export function* asOlderMessages(messages: Iterable<string>): Generator<string> {
  for (const text of messages) {
    const message = JSON.parse(text) as TableMessage
    for (const entry of message.entries.targets ?? []) {
      if (typeof entry[1] === 'string') entry[1] = JSON.parse(entry[1]) as string
    }
    yield JSON.stringify(message)
  }
}

/**
 * Sends the messages of a table, a few at a time; returns the answer to the last one. Throws the `ChannelError` of the first
 * one that is refused.
 */
export async function sendTable(
  channel: Channel,
  messages: Iterable<string> | AsyncIterable<string>,
  { window, timeoutMs }: { window: number; timeoutMs: number },
): Promise<unknown> {
  const underWay: Promise<unknown>[] = []
  let answer: unknown
  for await (const message of messages) {
    if (underWay.length === window) answer = await underWay.shift()
    const asked = channel.request('table', message, timeoutMs)
    // The first failure is thrown below; later messages then fail as well.
    asked.catch(() => {})
    underWay.push(asked)
  }
  for (const asked of underWay) answer = await asked
  return answer
}
