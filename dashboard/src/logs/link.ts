import { computed, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { LogLine } from './line.ts'

interface Options {
  lines: Readonly<Ref<readonly LogLine[]>>
  /**
   * In a log that is read from its first line, lines have stable numbers; in one that starts with another line each time, only
   * timestamps are stable.
   */
  isWhole: boolean
  /** Scrolls to the line at this index. */
  show: (index: number) => void
  /** Asks for the lines around a moment, when the lines start after it; returns whether other lines will be shown. */
  showAround: ((moment: string) => boolean) | undefined
}

/** A line by its number, or by its timestamp and how many lines with the same timestamp come before it. */
const NUMBER = /^#L(\d+)$/
const MOMENT = /^#(\d{4}-\d\d-\d\dT[\d:.]+Z)(?:\+(\d+))?$/

interface Linked {
  /** The number or timestamp of the line. */
  name: string
  /** How many lines with the same one come before it. */
  among: number
}

/** The line that the hash of an address names by its timestamp; null for none. */
export function momentIn(hash: string): Linked | null {
  const [, name, among = 0] = MOMENT.exec(hash) ?? []
  return name === undefined || Number.isNaN(Date.parse(name)) ? null : { name, among: Number(among) }
}

/** The hash that names a line by its timestamp and how many lines with the same one come before it. */
export function hashOf(ts: string, among: number): string {
  return among === 0 ? `#${ts}` : `#${ts}+${among}`
}

function numberIn(hash: string): Linked | null {
  const [, name] = NUMBER.exec(hash) ?? []
  return name === undefined ? null : { name, among: 0 }
}

export interface LineLink {
  /** Where the line is that the address links to; -1 while it is not there. */
  place: ComputedRef<number>
  /**
   * Shows that line once it has arrived, or the next one if it no longer exists. Returns whether it did, or is waiting for
   * other lines; false for good after a line was shown or picked.
   */
  lead: () => boolean
  /** Links the address to the line at this index, or removes the link if it is already there. */
  pick: (index: number) => void
}

/** The line that the address links to. */
export function useLineLink({ lines, isWhole, show, showAround }: Options): LineLink {
  const route = useRoute()
  const router = useRouter()
  const linked = computed(() => (isWhole ? numberIn(route.hash) : momentIn(route.hash)))
  const place = computed(() => {
    if (linked.value === null) return -1
    const { name, among } = linked.value
    if (isWhole) return lines.value.findIndex(({ number }) => number === Number(name))
    const line = lines.value.filter(({ ts }) => ts === name)[among]
    return line ? lines.value.indexOf(line) : -1
  })

  /** Where the next line after it is; -1 while there is none. */
  function nextTo({ name }: Linked): number {
    return lines.value.findIndex(({ number, ts }) => (isWhole ? number > Number(name) : ts > name))
  }

  /** Whether the lines start too late to include it. */
  function isMissed({ name }: Linked): boolean {
    const [first] = lines.value
    return !isWhole && place.value < 0 && first !== undefined && first.ts >= name
  }

  let hasLed = false
  /** Lines that start after the linked one; others were asked for. */
  let tooLate: readonly LogLine[] | undefined
  function lead(): boolean {
    if (linked.value === null || hasLed) return false
    if (lines.value === tooLate) return true
    if (!tooLate && isMissed(linked.value) && showAround?.(linked.value.name)) {
      tooLate = lines.value
      return true
    }
    const index = place.value < 0 ? nextTo(linked.value) : place.value
    if (index < 0) return false
    hasLed = true
    show(index)
    return true
  }

  function hashAt(index: number): string {
    const { number, ts } = lines.value[index]!
    if (isWhole) return `#L${number}`
    return hashOf(ts, lines.value.slice(0, index).filter((line) => line.ts === ts).length)
  }

  function pick(index: number): void {
    hasLed = true
    void router.replace({ ...route, hash: place.value === index ? '' : hashAt(index) })
  }

  return { place, lead, pick }
}
