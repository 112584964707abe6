import { computed, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { LogLine } from './line.ts'

/** A line by its number, or by its moment and how many lines of the same moment come before it. */
const NUMBER = /^#L(\d+)$/
const MOMENT = /^#(\d{4}-\d\d-\d\dT[\d:.]+Z)(?:\+(\d+))?$/

interface Linked {
  /** The line's number or moment. */
  name: string
  /** How many lines of that name come before it. */
  among: number
}

/** The line that the hash of an address names by its moment; null for none. */
export function momentIn(hash: string): Linked | null {
  const [, name, among = 0] = MOMENT.exec(hash) ?? []
  return name === undefined || Number.isNaN(Date.parse(name)) ? null : { name, among: Number(among) }
}

function numberIn(hash: string): Linked | null {
  const [, name] = NUMBER.exec(hash) ?? []
  return name === undefined ? null : { name, among: 0 }
}

export interface LineLink {
  /** Whether the address leads to a line. */
  isLinked: ComputedRef<boolean>
  /** Where that line is; -1 while it is not there. */
  place: ComputedRef<number>
  /** Where what came next is; -1 while nothing has. */
  next: ComputedRef<number>
  /** Its moment, where the lines begin too late to have it; else null. */
  missed: ComputedRef<string | null>
  /** Makes the address lead to the line at this place, or to none when it led there. */
  pick: (index: number) => void
}

/**
 * The line that the address leads to. A log that is read from its first line on counts its lines; of one that begins with
 * another line each time only their moments stay.
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
