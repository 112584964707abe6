import { ApiError, apiUrl, failed, parseAnswer } from '../api/client.ts'
import type { Deploy } from '../api/types.ts'

/** The server's limit for an uploaded archive. */
export const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024

interface Upload {
  serviceId: string
  file: File
  clearCache?: boolean
  /** Called with the part that has been sent, 0 to 1. */
  progress: (part: number) => void
  /** Aborts it; what was sent by then is deployed only if it was complete. */
  signal: AbortSignal
}

/**
 * Sends an archive; the answer is the deploy it queued. With XMLHttpRequest, because fetch does not report the progress
 * of a body. Throws ApiError, or the signal's reason when it aborts.
 */
export function uploadArchive({ serviceId, file, clearCache, progress, signal }: Upload): Promise<Deploy> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(
      'POST',
      apiUrl('/services/{id}/deploys/upload', { id: serviceId }, { clear_cache: clearCache }),
    )
    request.setRequestHeader('content-type', 'application/gzip')
    request.upload.addEventListener('progress', (event) => progress(event.loaded / Math.max(event.total, 1)))
    request.addEventListener('load', () => {
      const { status, responseText } = request
      if (status < 200 || status > 299) return reject(failed(status, responseText))
      try {
        resolve(parseAnswer(status, responseText) as Deploy)
      } catch (error) {
        reject(error)
      }
    })
    request.addEventListener('error', () =>
      reject(new ApiError(0, 'unreachable', 'The upload was interrupted. Try again.')),
    )
    const end = () => request.abort()
    signal.addEventListener('abort', end, { once: true })
    request.addEventListener('abort', () => reject(signal.reason as Error))
    request.addEventListener('loadend', () => signal.removeEventListener('abort', end))
    if (signal.aborted) return reject(signal.reason as Error)
    request.send(file)
  })
}

/** What is wrong with a chosen file, as far as can be seen before it is sent; null when it is fine. */
export function archiveFault(file: File): string | null {
  if (!/\.(tar\.gz|tgz)$/i.test(file.name)) return 'Choose a .tar.gz file, or the folder itself.'
  if (file.size === 0) return 'The file is empty.'
  if (file.size > MAX_ARCHIVE_BYTES)
    return 'The file is over 512 MiB. Leave out what can be installed or built.'
  return null
}

const MIB = 1024 * 1024

/** "340 KiB", "12.5 MiB". */
export function fileSize(bytes: number): string {
  return bytes < MIB ? `${Math.max(1, Math.round(bytes / 1024))} KiB` : `${(bytes / MIB).toFixed(1)} MiB`
}
