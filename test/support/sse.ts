/** One event of a stream, or only a comment. */
export interface StreamEvent {
  event: string
  /** The data line as it was sent; empty for an empty one. */
  data: string
  comment?: string
}

/**
 * Reads Server-Sent Events from a response until it ends, as the HTML standard's section 9.2.6 says, and the comments
 * between them. Throws when the stream is cut in the middle of its bytes.
 */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent> {
  if (!response.body) throw new Error(`the answer ${response.status} has no body`)
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield parseBlock(block)
  }
}

/** Reads every event of a stream that ends by itself. */
export async function allEvents(response: Response): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of readEvents(response)) events.push(event)
  return events
}

function parseBlock(block: string): StreamEvent {
  const parsed: StreamEvent = { event: 'message', data: '' }
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith(':')) parsed.comment = line.slice(1).trim()
    else if (line.startsWith('event:')) parsed.event = line.slice('event:'.length).trim()
    else if (line.startsWith('data:')) data.push(line.slice('data:'.length).trim())
  }
  parsed.data = data.join('\n')
  return parsed
}
