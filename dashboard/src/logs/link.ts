import { computed, type ComputedRef, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'
import type { LogLine } from './line.ts'

/** A line by its number, or by its moment and how many lines of the same moment come before it. */
const NUMBER = /^#L(\d+)$/
const MOMENT = /^#(\d{4}-\d\d-\d\dT[\d:.]+Z)(?:\+(\d+))?$/

export interface LineLink {
  /** Whether the address leads to a line. */
  isLinked: ComputedRef<boolean>
  /** Where that line is, or what came next where it is there no more; -1 while neither has come. */
  place: ComputedRef<number>
  /** Its moment, where that is before all lines; else null. */
  before: ComputedRef<string | null>
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
  const linked = computed(() => {
    const [, name, among = 0] = (isWhole ? NUMBER : MOMENT).exec(route.hash) ?? []
    return name === undefined ? null : { name, among: Number(among) }
  })
  const place = computed(() => {
    if (linked.value === null) return -1
    const { name, among } = linked.value
    if (isWhole) return lines.value.findIndex(({ number }) => number === Number(name))
    const same = lines.value.filter(({ ts }) => ts === name)
    const line = same[among] ?? same.at(-1) ?? lines.value.find(({ ts }) => ts > name)
    return line ? lines.value.indexOf(line) : -1
  })
  const before = computed(() => {
    const isBefore = !isWhole && place.value === 0 && lines.value[0]!.ts !== linked.value!.name
    return isBefore ? linked.value!.name : null
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

  return { isLinked: computed(() => linked.value !== null), place, before, pick }
}
