import { nextTick, ref, type ComponentPublicInstance, type Ref } from 'vue'
import { problemText } from '../api/client.ts'
import { faultsOf } from './faults.ts'

export interface Problems {
  /** What is wrong with a field; null when nothing is known to be. */
  of: (field: string) => string | null
  /** What is wrong with no field that is shown. */
  rest: Ref<string | null>
  clear: () => void
  /** Shows why something failed and leads to the first faulty field. */
  show: (error: unknown) => Promise<void>
}

/** A form's element, or the part whose element it is. */
export type FormRef = Readonly<Ref<HTMLElement | ComponentPublicInstance | null>>

/** The faults of a form, each said once: at its field, or beside the form. `shown` are the fields that may have a place for it. */
export function useProblems(form: FormRef, shown: readonly string[]): Problems {
  const fields = ref<Record<string, string>>({})
  const rest = ref<string | null>(null)
  return {
    of: (field) => fields.value[field] ?? null,
    rest,
    clear: () => {
      fields.value = {}
      rest.value = null
    },
    show: async (error) => {
      const text = problemText(error)
      const faults = faultsOf(text.charAt(0).toLowerCase() + text.slice(1), shown)
      fields.value = faults.fields
      rest.value = faults.rest
      await nextTick()
      const element = form.value && '$el' in form.value ? (form.value.$el as HTMLElement) : form.value
      const places = element?.querySelectorAll<HTMLElement>('[aria-invalid=true]') ?? []
      if (places.length < Object.keys(faults.fields).length) {
        // A field that is not shown now has no place for what is wrong with it.
        fields.value = {}
        rest.value = faultsOf(text.charAt(0).toLowerCase() + text.slice(1), []).rest
        return
      }
      const [faulty] = places
      const folded = faulty?.closest('details')
      if (folded) folded.open = true
      faulty?.focus()
    },
  }
}
