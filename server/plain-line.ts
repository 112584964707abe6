/** A text of others as one line, without what a terminal that shows it would obey. */
export function plainLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim()
}
