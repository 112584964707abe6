/** Red, green and blue, 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number]

/** The background of a line (`--log-page`). */
const PAGE: Colour = [14, 14, 18]
/** The colour of unstyled text (`--log-text`). */
const TEXT: Colour = [214, 214, 222]
const BLACK: Colour = [0, 0, 0]
const WHITE: Colour = [255, 255, 255]

/** WCAG 2.2, 1.4.3, for text of normal size. */
const LEAST_CONTRAST = 4.5
/** How far a colour is moved at a time towards a readable one. */
const STEP = 0.15
/** How much of its background dim text takes on. */
const DIM = 0.35

/** The sixteen named colours as text on a dark page, then as a background below light text. */
const NAMED: Record<string, readonly [text: Colour, background: Colour]> = {
  black: [[122, 122, 134], BLACK],
  red: [
    [255, 128, 120],
    [122, 32, 27],
  ],
  green: [
    [126, 226, 160],
    [20, 83, 45],
  ],
  yellow: [
    [242, 207, 102],
    [107, 78, 10],
  ],
  blue: [
    [130, 170, 255],
    [30, 58, 138],
  ],
  magenta: [
    [215, 163, 247],
    [88, 28, 135],
  ],
  cyan: [
    [111, 219, 228],
    [21, 94, 106],
  ],
  white: [TEXT, [74, 74, 85]],
  'bright-black': [
    [142, 142, 154],
    [74, 74, 85],
  ],
  'bright-red': [
    [255, 157, 150],
    [122, 32, 27],
  ],
  'bright-green': [
    [157, 240, 184],
    [20, 83, 45],
  ],
  'bright-yellow': [
    [255, 224, 138],
    [107, 78, 10],
  ],
  'bright-blue': [
    [164, 193, 255],
    [30, 58, 138],
  ],
  'bright-magenta': [
    [230, 192, 255],
    [88, 28, 135],
  ],
  'bright-cyan': [
    [151, 236, 243],
    [21, 94, 106],
  ],
  'bright-white': [WHITE, [74, 74, 85]],
}

/** A colour as anser names it: `ansi-red`, `ansi-palette-208`, or `1, 2, 3` for a true colour; undefined for none. */
export function colourOf(
  name: string | null,
  trueColour: string | null,
  use: 'text' | 'background',
): Colour | undefined {
  if (trueColour) {
    const [red = 0, green = 0, blue = 0] = trueColour.split(',').map(Number)
    return [red, green, blue]
  }
  const palette = /palette-(\d+)$/.exec(name ?? '')
  if (palette) return ofPalette(Number(palette[1]))
  return NAMED[name?.replace('ansi-', '') ?? '']?.[use === 'text' ? 0 : 1]
}

/** The values of a colour in xterm's cube of 6 × 6 × 6, which is 16 to 231 of its 256 colours. */
const CUBE = [0, 95, 135, 175, 215, 255] as const
const FIRST_OF_CUBE = 16
const FIRST_GREY = 232

function ofPalette(number: number): Colour {
  if (number >= FIRST_GREY) {
    const grey = 8 + 10 * (number - FIRST_GREY)
    return [grey, grey, grey]
  }
  const at = number - FIRST_OF_CUBE
  return [CUBE[Math.floor(at / 36)] ?? 0, CUBE[Math.floor(at / 6) % 6] ?? 0, CUBE[at % 6] ?? 0]
}

/** A colour in which text is readable on its background, as close as possible to the requested one. */
export function readable(text: Colour = TEXT, background: Colour = PAGE, isDim = false): Colour {
  const wanted = isDim ? mix(text, background, DIM) : text
  const goal = contrast(WHITE, background) > contrast(BLACK, background) ? WHITE : BLACK
  let shown = wanted
  for (let part = STEP; contrast(shown, background) < LEAST_CONTRAST && part < 1 + STEP; part += STEP)
    shown = mix(wanted, goal, Math.min(part, 1))
  return shown
}

export function css(colour: Colour): string {
  return `rgb(${colour.join(', ')})`
}

/** WCAG 2.2, contrast ratio. */
export function contrast(one: Colour, other: Colour): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(from: Colour, to: Colour, part: number): Colour {
  const between = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * part)
  return [between(0), between(1), between(2)]
}
