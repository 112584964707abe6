import { onScopeDispose, ref, type Ref } from 'vue'
import { useRouter } from 'vue-router'
import { api, problemText } from '../api/client.ts'
import type { SampleName, Service, ServiceInput } from '../api/types.ts'
import { uploadArchive } from '../deploys/upload.ts'
import { toast } from '../ui/toasts.ts'
import { leaveFreely } from '../ui/unsaved.ts'
import { servicePath } from './address.ts'
import { useServices } from './store.ts'

/** What the first deploy is made from, where the settings of the service do not say it. */
export interface CreationSource {
  archive?: File | null
  /** The name of a sample of the server. */
  sample?: SampleName | null
}

export interface Creation {
  isBusy: Ref<boolean>
  /** Which part of the archive was sent; null while none is uploaded. */
  sent: Ref<number | null>
  /**
   * Creates a service, uploads its archive or deploys its sample if it has one, and goes to the first deploy; if that fails,
   * to the service, where it can be tried again. Throws what the server refuses.
   */
  create: (body: ServiceInput, source: CreationSource) => Promise<void>
}

/** Creates a service for a page. Once the user leaves it, nothing more is sent and no page is opened. */
export function useCreation(): Creation {
  const router = useRouter()
  const store = useServices()
  const isBusy = ref(false)
  const sent = ref<number | null>(null)
  const left = new AbortController()
  onScopeDispose(() => left.abort())

  async function create(body: ServiceInput, source: CreationSource): Promise<void> {
    isBusy.value = true
    try {
      const service = store.take(await api('POST /services', { body }))
      const deployId = await firstDeploy(service, source)
      if (left.signal.aborted) return
      leaveFreely()
      await router.push(servicePath(service, deployId ? `deploys/${deployId}` : ''))
    } finally {
      isBusy.value = false
      sent.value = null
    }
  }

  /** The id of the first deploy, which the server queues by itself where the settings have a source. */
  async function firstDeploy(service: Service, { archive, sample }: CreationSource): Promise<string | null> {
    if (archive) return upload(service, archive)
    if (sample) return deploySample(service, sample)
    return service.latest_deploy?.id ?? null
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

  async function deploySample(service: Service, sample: SampleName): Promise<string | null> {
    try {
      const { id } = await api('POST /services/{id}/deploys', { id: service.id, body: { sample } })
      return id
    } catch (error) {
      toast.problem(`${service.name} was created, but the sample was not deployed: ${problemText(error)}`)
      return null
    }
  }

  return { isBusy, sent, create }
}
