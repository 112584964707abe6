import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { guardUnsaved } from '../ui/unsaved.ts'
import { conflictsOf, rebase, touchedOf, valueOf, withValues, type Fields } from './merge.ts'

/** A form over server data that others may change too. */
export interface Draft<F extends Fields> {
  /** The values of the fields. */
  values: Ref<F>
  isTouched: ComputedRef<boolean>
  /** Fields that were changed elsewhere after they were changed here; while there are any, nothing is saved. */
  conflicts: ComputedRef<string[]>
  /** What such a field was set to elsewhere; null when it was removed. */
  theirs: (field: string) => string | null
  isSaving: Ref<boolean>
  /** Resolves conflicts with what was typed here. */
  keepMine: () => void
  /** Resolves conflicts with what was saved elsewhere. */
  takeTheirs: () => void
  discard: () => void
  /**
   * Fetches the current values and, unless they conflict, sends the changes. Resolves to whether they were sent. Throws
   * what `send` and the fetch throw.
   */
  save: (send: Send<F>) => Promise<boolean>
}

type Send<F> = (draft: { base: F; values: F }) => Promise<unknown>

interface Source<F extends Fields> {
  /** The current values as the page knows them; the form follows their changes. */
  now: () => F
  /** Fetches them from the server; `now` returns them afterwards. */
  refresh: () => Promise<unknown>
  /** Holds the fields, where they are more than values by name. */
  values?: Ref<F>
}

/** Creates a draft that asks before the page is left with unsaved changes. */
export function useDraft<F extends Fields>({ now, refresh, values }: Source<F>): Draft<F> {
  const base = shallowRef<F>(now())
  const mine = values ?? (ref({ ...now() }) as Ref<F>)
  if (values) values.value = now()
  const isSaving = ref(false)
  /** While saving, its own effect arrives as a change too. */
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
