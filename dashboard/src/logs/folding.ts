import { computed, shallowReactive, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import type { DeployStep } from '../api/types.ts'
import { errorLine, foldedRows, LogGroups, plainRows, type LogRows } from './groups.ts'
import type { LogLine } from './line.ts'
import { foldSteps } from './preferences.ts'

export interface Folding {
  /** Whether the log has steps. */
  hasSteps: ComputedRef<boolean>
  /** Whether they are shown as such. */
  isFolded: ComputedRef<boolean>
  rows: ComputedRef<LogRows>
  isOpen: (step: DeployStep) => boolean
  toggle: (step: DeployStep) => void
  /** Opens or closes all steps. */
  setAll: (open: boolean) => void
  /** Opens the step of the line at this index, and leaves it open. */
  openAt: (index: number) => void
  /** The index of the line that says why the deploy failed; -1 for none. */
  error: ComputedRef<number>
}

interface Options {
  lines: Readonly<Ref<LogLine[]>>
  steps: ShallowRef<DeployStep[]>
  /** Indexes of the lines that were searched for; their steps are open. */
  matches: () => readonly number[]
  /** Whether the end of the log stays in view. */
  following: Ref<boolean>
}

/** The rows of a log with steps: a step that runs or has failed is open, and so is one that the user has opened. */
export function useFolding({ lines, steps, matches, following }: Options): Folding {
  const groups = new LogGroups()
  const chosen = shallowReactive(new Map<string, boolean>())
  const hasSteps = computed(() => steps.value.length > 0)
  const isFolded = computed(() => hasSteps.value && foldSteps.value)
  const found = computed(() => new Set(matches().map((index) => lines.value[index]?.step)))

  function isOpen({ id, status }: DeployStep): boolean {
    return found.value.has(id) || (chosen.get(id) ?? (status === 'running' || status === 'failed'))
  }

  const rows = computed(() => {
    if (!isFolded.value) return plainRows(lines.value.length)
    groups.update(lines.value, steps.value)
    return foldedRows(groups, isOpen)
  })
  const error = computed(() => {
    if (!steps.value.some(({ status }) => status === 'failed')) return -1
    groups.update(lines.value, steps.value)
    return errorLine(groups, lines.value)
  })

  /** What someone is reading does not close when it ends. */
  watch(steps, (now, before) => {
    if (now.length === 0) chosen.clear()
    if (following.value) return
    const ran = new Set(before.flatMap(({ id, status }) => (status === 'running' ? [id] : [])))
    for (const { id, status } of now)
      if (status !== 'running' && ran.has(id) && !chosen.has(id)) chosen.set(id, true)
  })

  return {
    hasSteps,
    isFolded,
    rows,
    isOpen,
    toggle: (step) => void chosen.set(step.id, !isOpen(step)),
    setAll(open) {
      for (const { id } of steps.value) chosen.set(id, open)
    },
    openAt(index) {
      const id = lines.value[index]?.step
      if (id) chosen.set(id, true)
    },
    error,
  }
}
