import { nextTick } from 'vue'
import { api } from '../api/client.ts'
import type { Datastore, DatastorePatch } from '../api/types.ts'
import { useDraft, type Draft } from '../form/draft.ts'
import type { Fields } from '../form/merge.ts'
import { useProblems, type FormRef, type Problems } from '../form/problems.ts'
import { toast } from '../ui/toasts.ts'

interface Form<F extends Fields> {
  /** The form's element, to focus the first invalid field in. */
  element: FormRef
  datastore: () => Datastore
  /** Passes on what the server answered. */
  changed: (datastore: Datastore) => void
  /** The field values for a datastore. */
  read: (datastore: Datastore) => F
  /** The fields as the API takes them. */
  write: (values: F) => DatastorePatch
}

/** A form over some settings of a datastore, saved together. */
export function useSettingsForm<F extends Fields>(
  form: Form<F>,
): {
  draft: Draft<F>
  problems: Problems
  save: () => Promise<void>
} {
  const id = form.datastore().id
  const take = async (datastore: Datastore): Promise<void> => {
    form.changed(datastore)
    await nextTick()
  }
  const draft = useDraft({
    now: () => form.read(form.datastore()),
    refresh: async () => take(await api('GET /datastores/{id}', { id })),
  })
  const problems = useProblems(form.element, Object.keys(form.read(form.datastore())))
  const save = async (): Promise<void> => {
    problems.clear()
    try {
      const isSent = await draft.save(async ({ values }) =>
        take(await api('PATCH /datastores/{id}', { id, body: form.write(values) })),
      )
      if (isSent) toast.done('Saved. It applies from now on.')
    } catch (error) {
      await problems.show(error)
    }
  }
  return { draft, problems, save }
}
