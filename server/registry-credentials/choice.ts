import { useContext } from '../context.ts'
import { readRegistry } from '../images/reference.ts'
import { getRegistryCredential, listRegistryCredentials, type RegistryCredentialRow } from './store.ts'

/**
 * The stored credential for images of a registry, whose paths there are known or not (an empty list): the one with the id
 * `namedId` if it is for this registry, else the one with the longest prefix that one of the paths has. Null when there is
 * none. A password never goes to another host than its own, whatever names it.
 */
export function chooseCredential(
  registry: string,
  paths: readonly string[],
  namedId: string | null,
): RegistryCredentialRow | null {
  const host = readRegistry(registry)
  const named = namedId === null ? undefined : getRegistryCredential(namedId)
  if (named?.host === host) return named
  const ofHost = listRegistryCredentials()
    .filter((row) => row.host === host)
    .toSorted((left, right) => lengthOf(right) - lengthOf(left))
  // Without paths, the one for the most images.
  if (paths.length === 0) return ofHost.at(-1) ?? null
  return ofHost.find((row) => paths.some((path) => covers(row, path))) ?? null
}

/** The user name and the opened password of a stored credential. */
export function openCredential({ username, password }: RegistryCredentialRow): {
  username: string
  password: string
} {
  return { username, password: useContext().vault.open(password) }
}

function covers({ path_prefix }: RegistryCredentialRow, path: string): boolean {
  return path_prefix === null || path === path_prefix || path.startsWith(`${path_prefix}/`)
}

function lengthOf({ path_prefix }: RegistryCredentialRow): number {
  return path_prefix?.length ?? -1
}
