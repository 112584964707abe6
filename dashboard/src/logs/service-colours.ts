/** Readable on the page of a log, and distinct from the marks of levels. */
const COLOURS = ['#93b8ff', '#6ee7b7', '#c4b5fd', '#fcd34d', '#f9a8d4', '#67e8f9', '#bef264', '#fdba74']

/** Gives services colours in the order in which they come, so that few of them share one. */
export function serviceColours(): (id: string) => string {
  const known = new Map<string, string>()
  return (id) => {
    const colour = known.get(id) ?? COLOURS[known.size % COLOURS.length]!
    known.set(id, colour)
    return colour
  }
}
