import { computed, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { LogLine } from './line.ts'

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

function numberIn(hash: string): Linked | null {
  const [, name] = NUMBER.exec(hash) ?? []
  return name === undefined ? null : { name, among: 0 }
}

export interface LineLink {
  /** Whether the address links to a line. */
  isLinked: ComputedRef<boolean>
  /** Where that line is; -1 while it is not there. */
  place: ComputedRef<number>
  /** Where the next line after it is; -1 while there is none. */
  next: ComputedRef<number>
  /** Its timestamp, if the lines start too late to include it; otherwise null. */
  missed: ComputedRef<string | null>
  /** Links the address to the line at this index, or removes the link if it is already there. */
  pick: (index: number) => void
}

/**
 * The line that the address links to. In a log that is read from its first line, lines have stable numbers; in one that
 * starts with another line each time, only timestamps are stable.
 */
export function useLineLink(lines: Readonly<Ref<readonly LogLine[]>>, isWhole: boolean): LineLink {
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
  const next = computed(() => {
    const name = linked.value?.name
    if (name === undefined) return -1
    return lines.value.findIndex(({ number, ts }) => (isWhole ? number > Number(name) : ts > name))
  })
  const missed = computed(() => {
    const [first] = lines.value
    if (isWhole || linked.value === null || place.value >= 0 || first === undefined) return null
    return first.ts < linked.value.name ? null : linked.value.name
  })

  function nameAt(index: number): string {
    const { number, ts } = lines.value[index]!
    if (isWhole) return `L${number}`
    const among = lines.value.slice(0, index).filter((line) => line.ts === ts).length
    return among === 0 ? ts : `${ts}+${among}`
  }

  function pick(index: number): void {
    void router.replace({ ...route, hash: place.value === index ? '' : `#${nameAt(index)}` })
  }

  return { isLinked: computed(() => linked.value !== null), place, next, missed, pick }
}
