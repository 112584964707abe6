import { aborted } from 'node:util'
import { AppError } from '../errors.ts'
import { ForbiddenPlace, ownReach, placeFault, resolveJudged } from '../network/judged.ts'
import { imageFault, parseReference } from './reference.ts'

/** The ports at which a registry without a port is asked: https, and for one on this host also http. */
const USUAL_PORTS = [443, 80]
const DOCKER_HUB = 'docker.io'

interface Place {
  host: string
  port: number
}

/**
 * Why this server may not pull an image reference; null when it may. The registry's name is resolved and judged when
 * pulling.
 */
export function deployableImageFault(text: string): string | null {
  const fault = imageFault(text)
  if (fault !== null) return fault
  const places = placesOf(text)
  if (places === null)
    return `must be an image reference: its registry ${parseReference(text).registry} is not a host`
  const found = places.map(({ host, port }) => placeFault(host, port, registryReach())).find(Boolean)
  return found ? `must use another registry: ${found}` : null
}

/**
 * Judges an image's registry by the addresses that its name has now. A name that cannot be resolved here is left to the
 * engine, which may use other name servers. Throws `runtime_error` for an address that is denied, or the signal's reason.
 */
export async function judgeRegistry(reference: string, signal: AbortSignal): Promise<void> {
  for (const { host, port } of placesOf(reference) ?? []) {
    const judged = resolveJudged(host, port, registryReach()).catch((cause: unknown) => {
      if (!(cause instanceof ForbiddenPlace)) return
      throw new AppError('runtime_error', `the image ${reference} may not be pulled: ${cause.message}`, {
        cause,
      })
    })
    // A canceled deploy does not wait for name servers that do not answer.
    await Promise.race([judged, aborted(signal, signal)])
    signal.throwIfAborted()
  }
}

/** Where images may come from: private networks and this host too, but never this server itself. */
export function registryReach() {
  return { ...ownReach(), denyPrivate: false }
}

/**
 * The host and port of an image's registry, with addresses in their usual form; null when it is not a host. Docker Hub is
 * not judged.
 */
function placesOf(reference: string): Place[] | null {
  const { registry } = parseReference(reference)
  if (registry === DOCKER_HUB) return []
  // The URL parser knows every notation of an IPv4 address, as for git addresses.
  const url = URL.parse(`http://${registry}`)
  if (url === null) return null
  const ports = url.port === '' ? USUAL_PORTS : [Number(url.port)]
  return ports.map((port) => ({ host: url.hostname, port }))
}
