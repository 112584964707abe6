import { onScopeDispose, ref, type Ref } from 'vue'
import { useRouter } from 'vue-router'
import { api, problemText } from '../api/client.ts'
import type { Service, ServiceInput } from '../api/types.ts'
import { uploadArchive } from '../deploys/upload.ts'
import { toast } from '../ui/toasts.ts'
import { leaveFreely } from '../ui/unsaved.ts'
import { servicePath } from './address.ts'
import { useServices } from './store.ts'

export interface Creation {
  isBusy: Ref<boolean>
  /** Which part of the archive was sent; null while none is uploaded. */
  sent: Ref<number | null>
  /**
   * Creates a service, uploads its archive if it has one, and goes to the first deploy; if the upload fails, to the service,
   * where it can be tried again. Throws what the server refuses.
   */
  create: (body: ServiceInput, archive: File | null) => Promise<void>
}

/** Creates a service for a page. Once the user leaves it, nothing more is sent and no page is opened. */
export function useCreation(): Creation {
  const router = useRouter()
  const store = useServices()
  const isBusy = ref(false)
  const sent = ref<number | null>(null)
  const left = new AbortController()
  onScopeDispose(() => left.abort())

  async function create(body: ServiceInput, archive: File | null): Promise<void> {
    isBusy.value = true
    try {
      const service = store.take(await api('POST /services', { body }))
      const deployId = archive ? await upload(service, archive) : service.latest_deploy?.id
      if (left.signal.aborted) return
      leaveFreely()
      await router.push(servicePath(service, deployId ? `deploys/${deployId}` : ''))
    } finally {
      isBusy.value = false
      sent.value = null
    }
  }

  async function upload(service: Service, archive: File): Promise<string | null> {
    sent.value = 0
    try {
      const deploy = await uploadArchive({
        serviceId: service.id,
        file: archive,
        progress: (part) => (sent.value = part),
        signal: left.signal,
      })
      return deploy.id
    } catch (error) {
      if (left.signal.aborted)
        toast.problem(
          `${service.name} was created. The upload was interrupted; it is deployed only if it had already finished.`,
        )
      else toast.problem(`${service.name} was created, but the upload failed: ${problemText(error)}`)
      return null
    }
  }

  return { isBusy, sent, create }
}
