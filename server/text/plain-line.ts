/**
 * Marks, embeddings, overrides and isolates of direction (UAX #9), which make a text look different from how it is written.
 */
const UNSEEN = /[\p{Bidi_Control}\p{Cs}]+/gu
/** Control characters (C0, C1) and line separators. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/**
 * A text from outside as one line of limited length, without characters that a terminal or a page would act on. It is cut
 * first, so that half of a character at the end is removed too.
 */
export function plainLine(text: string, maxCharacters = Infinity): string {
  return text.slice(0, maxCharacters).replaceAll(UNSEEN, '').replaceAll(BREAKS, ' ').trim()
}

/** The same, but with its lines kept. */
export function plainLines(text: string, maxCharacters = Infinity): string {
  const lines = text.slice(0, maxCharacters).replaceAll(UNSEEN, '').split(/\r?\n/)
  return lines.map((line) => line.replaceAll(BREAKS, ' ')).join('\n')
}
