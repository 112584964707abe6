import { request } from './client.ts'

export interface StreamEvent {
  event: string
  data: string
}

/**
 * Reads a stream of Server-Sent Events with fetch: unlike EventSource it sees the server's refusals, and it does not
 * reconnect by itself, which would repeat a log. `onOpen` is called once it is open, before any event. Returns when the
 * stream ends; throws ApiError when refused.
 */
export async function* readEvents(
  url: string,
  signal: AbortSignal,
  onOpen: () => void = () => {},
): AsyncGenerator<StreamEvent> {
  const response = await request(url, { signal, headers: { accept: 'text/event-stream' }, cache: 'no-store' })
  onOpen()
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) {
        const event = parseBlock(block)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** One event, or null for a block of comments only. */
function parseBlock(block: string): StreamEvent | null {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+):? ?(.*)$/s.exec(line) ?? []
    if (field === 'event') event = value!
    else if (field === 'data') data.push(value!)
  }
  return data.length === 0 ? null : { event, data: data.join('\n') }
}
