/** Longer lines are no statements of the kinds that are looked for. */
const MAX_LINE_CHARACTERS = 16 * 1024

/** Lines of a text, of which no more than the beginning is held. */
export async function* linesOf(text: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let begun = ''
  for await (const piece of text) {
    const [first, ...lines] = decoder.decode(piece, { stream: true }).split('\n')
    begun = (begun + first).slice(0, MAX_LINE_CHARACTERS)
    for (const line of lines) {
      yield begun
      begun = line.slice(0, MAX_LINE_CHARACTERS)
    }
  }
  yield begun
}
