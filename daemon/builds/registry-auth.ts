import { imageFault, parseReference, readRegistry, type ImageReference } from '#server/images/reference.ts'
import { chooseCredential, openCredential } from '#server/registry-credentials/choice.ts'
import { getService } from '#server/services/store.ts'
import { registryCredentials, type RegistryAuth } from '../engine/index.ts'

/** Whose images are pulled, and what is told about it. */
interface Purpose {
  /** The service that may name a registry credential; null for a datastore, which cannot. */
  serviceId: string | null
  /** References of the images, as far as they are known. */
  images: readonly string[]
  /** Called once with the name of each stored credential before it is used. */
  onChosen?: (name: string, registry: string) => void
}

/**
 * Finds what to sign in with at a registry: the stored credential that the service names or that matches the images, as it is
 * now, else what the user that runs the server has (`docker login`).
 */
export function registryAuthFor({ serviceId, images, onChosen }: Purpose): RegistryAuth {
  const references = referencesOf(images)
  const told = new Set<string>()
  return (registry) => {
    const host = readRegistry(registry)
    const paths = references.filter((image) => readRegistry(image.registry) === host).map(({ path }) => path)
    const named = (serviceId === null ? undefined : getService(serviceId))?.registry_credential_id ?? null
    const chosen = chooseCredential(registry, paths, named)
    if (chosen === null) return registryCredentials(registry)
    if (!told.has(chosen.id)) onChosen?.(chosen.name, chosen.host)
    told.add(chosen.id)
    return Promise.resolve(openCredential(chosen))
  }
}

/** The registries of images, as engines call them. */
export function registriesOf(images: readonly string[]): string[] {
  return referencesOf(images).map(({ registry }) => registry)
}

/** What a Dockerfile names may be no reference, such as the number of a stage. */
function referencesOf(images: readonly string[]): ImageReference[] {
  return images.filter((text) => imageFault(text) === null).map(parseReference)
}
