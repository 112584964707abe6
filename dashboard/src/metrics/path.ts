interface Box {
  width: number
  height: number
  /** The value at the top. */
  most: number
}

/** The path of a line through values at equal distances, with gaps where there is none. A lone value is a short stroke. */
export function pathOf(values: readonly (number | null)[], { width, height, most }: Box): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined
  return values
    .flatMap((value, index) => {
      if (value === null) return []
      const place = `${round(index * step)},${round(height - (most > 0 ? value / most : 0) * height)}`
      if (isThere(index - 1)) return [`L${place}`]
      return [isThere(index + 1) ? `M${place}` : `M${place}h1`]
    })
    .join('')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
