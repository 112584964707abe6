import { AppError } from '../errors.ts'

/** The parsed name of a container image. */
export interface ImageReference {
  /** The registry as it appears in credentials, `docker.io` for Docker Hub. */
  registry: string
  /** The path at the registry; `library/node` for an official image of Docker Hub. */
  path: string
  /** Null when none was given; a pull then uses `latest`, unless there is a digest. */
  tag: string | null
  /** `sha256:<64 hex>` or `sha512:<128 hex>`, or null. */
  digest: string | null
}

/** The length limit of the path at the registry (distribution/reference, RepositoryNameTotalLengthMax). */
const MAX_PATH_LENGTH = 255
/** How much of an invalid reference a message repeats. */
const MAX_SHOWN_LENGTH = 255

// The grammar: https://pkg.go.dev/github.com/distribution/reference (the text before `package reference`).
const DOMAIN =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]{1,5})?$/
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^sha256:[a-f0-9]{64}$|^sha512:[a-f0-9]{128}$/
/** A text that the engine would take for an image id instead of a name. */
const BARE_ID = /^[a-f0-9]{64}$/

/**
 * Parses an image reference such as `node:26`, `registry.example.com:5000/team/api:2` or `api@sha256:...`. Throws
 * `invalid_request` that says which part is wrong.
 */
export function parseReference(text: string): ImageReference {
  const read = readReference(text)
  if (typeof read !== 'string') return read
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text
  throw new AppError('invalid_request', `${JSON.stringify(shown)} is not an image reference: ${read}`)
}

/** Why a text is not an image reference, worded to follow the field's name; null when it is one. */
export function imageFault(text: string): string | null {
  const read = readReference(text)
  return typeof read === 'string'
    ? `must be an image reference such as registry.example.com/team/api:2: ${read}`
    : null
}

/**
 * The full repository of an image, without tag and digest, and with the registry's usual name. Throws what `parseReference`
 * throws.
 */
export function repositoryOf(reference: string): string {
  return formatReference({ ...parseReference(reference), tag: null, digest: null })
}

/** The full reference: registry, path, and tag and digest if given. */
export function formatReference({ registry, path, tag, digest }: ImageReference): string {
  return `${registry}/${path}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`
}

/**
 * A registry's host, such as `registry.example.com:5000`, in the one form in which it is stored and compared: lower case,
 * without the port of https, `docker.io` for Docker Hub. Null for a text that no image reference can have in its place.
 */
export function readRegistry(text: string): string | null {
  // The folder of official images, which is no host.
  if (text.toLowerCase() === 'library') return null
  const read = readReference(`${text.toLowerCase()}/image`)
  if (typeof read === 'string' || !/^(?:library\/)?image$/.test(read.path)) return null
  return canonicalRegistry(read.registry.replace(/:443$/, ''))
}

/** Parses a reference, or returns what is wrong with it. */
function readReference(text: string): ImageReference | string {
  const [beforeDigest, digest, ...more] = text.split('@')
  if (more.length > 0) return 'it has more than one @'
  if (BARE_ID.test(text)) return 'it is an id; name the image by its repository'
  if (digest !== undefined && !DIGEST.test(digest))
    return 'its digest must be sha256: and 64 hex digits, or sha512: and 128'
  const { name, tag } = splitTag(beforeDigest!)
  if (tag !== null && !TAG.test(tag)) return 'its tag may have letters, digits, ".", "_" and "-", at most 128'
  const { registry, path } = splitRegistry(name)
  if (!DOMAIN.test(registry)) return `its registry ${registry} is not a host name`
  if (path.length > MAX_PATH_LENGTH) return `its repository is longer than ${MAX_PATH_LENGTH} characters`
  return PATH.test(path)
    ? { registry, path, tag, digest: digest ?? null }
    : 'its repository must be lower-case letters and digits, with single ".", "_" or "-" and "/" between'
}

function splitTag(text: string): { name: string; tag: string | null } {
  const colon = text.lastIndexOf(':')
  // A colon before the last slash belongs to the port.
  if (colon < 0 || text.indexOf('/', colon) >= 0) return { name: text, tag: null }
  return { name: text.slice(0, colon), tag: text.slice(colon + 1) }
}

/** The first part is a registry when it looks like a host: it has a dot or a port, is `localhost` or has capitals. */
function splitRegistry(name: string): { registry: string; path: string } {
  const slash = name.indexOf('/')
  const first = name.slice(0, slash)
  const isHost = slash > 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase())
  const registry = isHost && first !== 'index.docker.io' ? first : 'docker.io'
  const path = isHost ? name.slice(slash + 1) : name
  return { registry, path: registry === 'docker.io' && !path.includes('/') ? `library/${path}` : path }
}

/** The registry whose credentials are for a host. Docker Hub has several names. */
export function canonicalRegistry(host: string): string {
  return host === 'index.docker.io' || host === 'registry-1.docker.io' ? 'docker.io' : host
}
