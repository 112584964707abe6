import { nextTick, ref, type ComponentPublicInstance, type Ref } from 'vue'
import { problemText } from '../api/client.ts'
import { faultsOf } from './faults.ts'

export interface Problems {
  /** The error of a field; null when there is none. */
  of: (field: string) => string | null
  /** Errors that belong to no visible field. */
  rest: Ref<string | null>
  clear: () => void
  /** Shows why something failed and focuses the first invalid field. */
  show: (error: unknown) => Promise<void>
}

/** The element of a form, or the component whose element it is. */
export type FormRef = Readonly<Ref<HTMLElement | ComponentPublicInstance | null>>

/** The errors of a form, each shown once: at its field, or below the form. `shown` are the fields that can show one. */
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
        // A hidden field cannot show its error.
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
