import { aborted } from 'node:util'
import { AppError } from '../errors.ts'
import { ForbiddenPlace, ownReach, placeFault, resolveJudged } from '../network/judged.ts'
import { imageFault, parseReference } from './reference.ts'

/** Where a registry without a port is asked: over https, and one on this host over http too. */
const USUAL_PORTS = [443, 80]
const DOCKER_HUB = 'docker.io'

interface Place {
  host: string
  port: number
}

/** Why this server may not pull an image reference; null when it may. A registry's name is resolved and judged at the pull. */
export function deployableImageFault(text: string): string | null {
  const fault = imageFault(text)
  if (fault !== null) return fault
  const places = placesOf(text)
  if (places === null)
    return `must be an image reference: its registry ${parseReference(text).registry} is not a host`
  const found = places.map(({ host, port }) => placeFault(host, port, registryReach())).find(Boolean)
  return found ? `must be of another registry: ${found}` : null
}

/**
 * Judges an image's registry by what its name means now. One that is not found here is left to the engine, which may ask
 * others. Throws `runtime_error` for a place that may not be asked, or the signal's reason.
 */
export async function judgeRegistry(reference: string, signal: AbortSignal): Promise<void> {
  for (const { host, port } of placesOf(reference) ?? []) {
    const judged = resolveJudged(host, port, registryReach()).catch((cause: unknown) => {
      if (!(cause instanceof ForbiddenPlace)) return
      throw new AppError('runtime_error', `the image ${reference} may not be pulled: ${cause.message}`, {
        cause,
      })
    })
    // Name servers that do not answer are waited for longer than a deploy that is canceled.
    await Promise.race([judged, aborted(signal, signal)])
    signal.throwIfAborted()
  }
}

/** How far images may come: from private networks and this host, but never from this server itself. */
function registryReach() {
  return { ...ownReach(), denyPrivate: false }
}

/** Where an image's registry is asked, addresses in their usual form; null when that is not a host. Docker Hub is not judged. */
function placesOf(reference: string): Place[] | null {
  const { registry } = parseReference(reference)
  if (registry === DOCKER_HUB) return []
  // As addresses of git are: the web's parser knows each way to write an address of IPv4.
  const url = URL.parse(`http://${registry}`)
  if (url === null) return null
  const ports = url.port === '' ? USUAL_PORTS : [Number(url.port)]
  return ports.map((port) => ({ host: url.hostname, port }))
}
