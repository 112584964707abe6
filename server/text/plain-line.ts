/** Marks, embeddings, overrides and isolates of direction (UAX #9): with them a text reads otherwise than it is written. */
const UNSEEN = /[\p{Bidi_Control}\p{Cs}]+/gu
/** Controls (C0, C1) and ends of lines. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/**
 * A text of others as one line, without what a terminal or a page that shows it would obey, and at most so long. It is cut
 * first, so that half a character at the end goes too.
 */
export function plainLine(text: string, maxCharacters = Infinity): string {
  return text.slice(0, maxCharacters).replaceAll(UNSEEN, '').replaceAll(BREAKS, ' ').trim()
}

/** The same with its lines. */
export function plainLines(text: string, maxCharacters = Infinity): string {
  const lines = text.slice(0, maxCharacters).replaceAll(UNSEEN, '').split(/\r?\n/)
  return lines.map((line) => line.replaceAll(BREAKS, ' ')).join('\n')
}
