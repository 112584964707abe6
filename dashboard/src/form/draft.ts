import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { guardUnsaved } from '../ui/unsaved.ts'
import { conflictsOf, rebase, touchedOf, valueOf, withValues, type Fields } from './merge.ts'

/** A form over something of the server's that others may change too. */
export interface Draft<F extends Fields> {
  /** What the fields hold. */
  values: Ref<F>
  isTouched: ComputedRef<boolean>
  /** Fields that were changed elsewhere since they were touched here; nothing is saved while there are any. */
  conflicts: ComputedRef<string[]>
  /** What such a field was set to elsewhere; null when it was removed. */
  theirs: (field: string) => string | null
  isSaving: Ref<boolean>
  /** Answers conflicts: what was typed here counts. */
  keepMine: () => void
  /** Answers conflicts: what was saved elsewhere counts. */
  takeTheirs: () => void
  discard: () => void
  /**
   * Reads what is there now, and unless that brings a conflict, sends. Answers whether it was sent. Throws what `send`
   * and the reading throw.
   */
  save: (send: Send<F>) => Promise<boolean>
}

type Send<F> = (draft: { base: F; values: F }) => Promise<unknown>

interface Source<F extends Fields> {
  /** What is there, as the page knows it; followed when it changes. */
  now: () => F
  /** Asks the server for it; `now` tells it afterwards. */
  refresh: () => Promise<unknown>
  /** Holds the fields, where they are more than values by name. */
  values?: Ref<F>
}

/** Makes a draft that asks before the page is left with something unsaved. */
export function useDraft<F extends Fields>({ now, refresh, values }: Source<F>): Draft<F> {
  const base = shallowRef<F>(now())
  const mine = values ?? (ref({ ...now() }) as Ref<F>)
  if (values) values.value = now()
  const isSaving = ref(false)
  /** While a save is under way its own effect comes back too. */
  const isSending = ref(false)
  const touched = computed(() => touchedOf({ base: base.value, mine: mine.value }))
  const isTouched = computed(() => touched.value.length > 0)
  const conflicts = computed(() => (isSending.value ? [] : conflictsOf(base.value, now())))

  function follow(): void {
    const merged = rebase({ base: base.value, mine: mine.value }, now())
    base.value = merged.base
    if (touchedOf({ base: merged.mine, mine: mine.value }).length > 0) mine.value = merged.mine
  }
  watch(now, () => {
    if (!isSending.value) follow()
  })
  guardUnsaved(() => isTouched.value)

  async function save(send: Send<F>): Promise<boolean> {
    isSaving.value = true
    try {
      await refresh()
      follow()
      if (conflicts.value.length > 0) return false
      const [names, sent] = [touched.value, { ...mine.value }]
      isSending.value = true
      await send({ base: base.value, values: sent })
      base.value = withValues(base.value, names, sent)
      return true
    } finally {
      isSaving.value = isSending.value = false
      follow()
    }
  }

  return {
    values: mine,
    isTouched,
    conflicts,
    theirs: (field) => {
      const value = valueOf(now(), field)
      return value === undefined || value === '' ? null : String(value)
    },
    isSaving,
    keepMine: () => {
      base.value = withValues(base.value, conflicts.value, now())
    },
    takeTheirs: () => {
      const names = conflicts.value
      mine.value = withValues(mine.value, names, now())
      base.value = withValues(base.value, names, now())
    },
    discard: () => {
      base.value = now()
      mine.value = { ...now() }
    },
    save,
  }
}
