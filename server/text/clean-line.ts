const ESCAPE = 0x1b
/** What begins a string with an end of its own: DCS, SOS, OSC, PM, APC (ECMA-48 sections 5.6 and 8.3), after ESC and as one character. */
const STRINGS_AFTER_ESCAPE = 'PX]^_'
const STRINGS = '\u0090\u0098\u009d\u009e\u009f'
const SEQUENCE = '\u009b'

/**
 * A line as a terminal would end up showing it: what follows the last carriage return, with tabs and colours and nothing
 * else that a terminal would obey. Looks at each character once, whatever the line.
 */
export function cleanLine(line: string): string {
  const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g
  if (!controls.test(line)) return line
  const shown = lastDrawing(line)
  let clean = ''
  let at = 0
  controls.lastIndex = 0
  for (let found = controls.exec(shown); found !== null; found = controls.exec(shown)) {
    const end = endOfControl(shown, found.index)
    const control = shown.slice(found.index, end)
    clean += shown.slice(at, found.index) + (isColour(control) ? control : '')
    at = controls.lastIndex = end
  }
  return clean + shown.slice(at)
}

/** A program that redraws its line ends each drawing with a carriage return: the last one counts. */
function lastDrawing(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end -= 1
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end)
}

/** SGR without a private mark is the only sequence that changes nothing but how text looks. */
function isColour(control: string): boolean {
  return /^\u001b\[[\d;:]*m$/.test(control)
}

/** Where the control function ends that begins at `at`. A string that nothing ends takes the rest of the line, as on a terminal. */
function endOfControl(text: string, at: number): number {
  const first = text[at]!
  if (first === SEQUENCE) return endOfSequence(text, at + 1)
  if (STRINGS.includes(first)) return endOfString(text, at + 1)
  if (first.charCodeAt(0) !== ESCAPE || at + 1 === text.length) return at + 1
  const second = text[at + 1]!
  if (second === '[') return endOfSequence(text, at + 2)
  if (STRINGS_AFTER_ESCAPE.includes(second)) return endOfString(text, at + 2)
  return skipOne(text, skip(text, at + 1, 0x20, 0x2f), 0x30, 0x7e)
}

/** Parameters, intermediates, and the final character (ECMA-48 section 5.4). */
function endOfSequence(text: string, at: number): number {
  return skipOne(text, skip(text, skip(text, at, 0x30, 0x3f), 0x20, 0x2f), 0x40, 0x7e)
}

/** Any control character ends a string; the terminator is one, or begins with one. */
function endOfString(text: string, at: number): number {
  const control = /[\u0000-\u001f\u007f-\u009f]/g
  control.lastIndex = at
  return control.exec(text)?.index ?? text.length
}

function skip(text: string, at: number, least: number, most: number): number {
  let end = at
  while (text.charCodeAt(end) >= least && text.charCodeAt(end) <= most) end += 1
  return end
}

function skipOne(text: string, at: number, least: number, most: number): number {
  return text.charCodeAt(at) >= least && text.charCodeAt(at) <= most ? at + 1 : at
}
