/** Escape sequences that set colours and weights (ECMA-48, SGR). */
const SGR = /\u001b\[[\d;:]*m/g
/** Other escape sequences: CSI, OSC up to its end, and those of two characters. */
const SEQUENCES =
  /\u001b(?:\[[\d:;<=>?]*[ -/]*[@-~]|[\]P^_X][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[ -/]*[0-~]?)/g
/** C0 but tab, DEL, C1, and characters that reorder text. */
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text of others, safe to print in a line of a terminal; its colours stay if `keepColors`. */
export function clean(text: string, { keepColors = false }: { keepColors?: boolean } = {}): string {
  if (!keepColors) return text.replace(SEQUENCES, '').replace(CONTROLS, '')
  let result = ''
  let from = 0
  for (const match of text.matchAll(SGR)) {
    result += clean(text.slice(from, match.index)) + match[0]
    from = match.index + match[0].length
  }
  return result === '' ? clean(text) : `${result}${clean(text.slice(from))}\u001b[0m`
}

/** Text of others in one line, without anything that a terminal would act upon. */
export function oneLine(text: string): string {
  return clean(text.trim().replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, ' '))
}
