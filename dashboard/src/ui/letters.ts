/** Of the page's letters where the reader has told the browser of no other size (style.css). */
const USUAL_PX = 14

/** How many times as large as usual the reader wants letters; for what is drawn or placed by pixels. */
export function letterScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_PX
}
