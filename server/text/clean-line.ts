const ESCAPE = 0x1b
/**
 * The starts of control strings, which have a terminator: DCS, SOS, OSC, PM, APC (ECMA-48 sections 5.6 and 8.3), after ESC
 * and as one character.
 */
const STRINGS_AFTER_ESCAPE = 'PX]^_'
const STRINGS = '\u0090\u0098\u009d\u009e\u009f'
const SEQUENCE = '\u009b'

/**
 * A line as a terminal would finally show it: the part after the last carriage return, with tabs and colours and without any
 * other control sequence. Takes linear time for any line.
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

/** The last drawing of a line. A program that redraws its line ends each drawing with a carriage return. */
function lastDrawing(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end -= 1
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end)
}

/** Whether a sequence is an SGR without a private mark, the only kind that changes nothing but the look of text. */
function isColour(control: string): boolean {
  return /^\u001b\[[\d;:]*m$/.test(control)
}

/**
 * The end of the control function that begins at `at`. An unterminated string takes the rest of the line, as on a terminal.
 */
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

/** Skips parameters, intermediates and the final character (ECMA-48 section 5.4). */
function endOfSequence(text: string, at: number): number {
  return skipOne(text, skip(text, skip(text, at, 0x30, 0x3f), 0x20, 0x2f), 0x40, 0x7e)
}

/** The end of a control string. Any control character ends it; the terminator is one, or begins with one. */
function endOfString(text: string, at: number): number {
  const control = /[\u0000-\u001f\u007f-\u009f]/g
  control.lastIndex = at
  return control.exec(text)?.index ?? text.length
}

function skip(text: string, at: number, min: number, max: number): number {
  let end = at
  while (text.charCodeAt(end) >= min && text.charCodeAt(end) <= max) end += 1
  return end
}

function skipOne(text: string, at: number, min: number, max: number): number {
  return text.charCodeAt(at) >= min && text.charCodeAt(at) <= max ? at + 1 : at
}
