import { z } from 'zod'
import { parseRepositoryUrl } from '#server/git/url.ts'
import type { Duplex } from 'node:stream'
import { GIT_CREDENTIALS_FD } from './git-lifeline.ts'

/** git asks in a few short lines; what is longer is not git. */
const MAX_REQUEST_CHARACTERS = 16 * 1024

interface Entry {
  /** A whole repository address, or what all addresses below it begin with: an origin, or an owner there. */
  place: string
  username: string
  password: string
}

/**
 * Answers git when it asks for credentials, by its own protocol (git-credential(1)) over a descriptor that only git and
 * what it starts have: they are on no command line, in no environment and no file. Each is told for its place alone, so
 * that neither a redirect nor a submodule elsewhere learns it.
 */
export class CredentialDesk {
  readonly #entries: Entry[] = []

  /** Adds credentials for one address, or for all below an origin or an owner there. */
  add(place: string, username: string | null, password: string | null): void {
    this.#entries.push({ place, username: username ?? '', password: password ?? '' })
  }

  /** What is for an address of the web; null when nothing is. */
  credentialsAt(url: string): { username: string; password: string } | null {
    const { protocol, host, pathname } = new URL(url)
    return this.#find({ protocol: protocol.slice(0, -1), host, path: pathname.slice(1) }) ?? null
  }

  /** Serves the requests that come over a stream until it ends. */
  serve(stream: Duplex): void {
    let text = ''
    stream.on('error', () => {})
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      const requests = text.split('\n\n')
      text = requests.pop()!
      if (text.length > MAX_REQUEST_CHARACTERS) stream.destroy()
      for (const request of requests) if (request.trim() !== '') stream.write(this.#answer(request))
    })
  }

  #answer(request: string): string {
    const fields: unknown = Object.fromEntries(
      request.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )
    const asked = Request.safeParse(fields)
    const found = asked.success ? this.#find(asked.data) : undefined
    return found ? `username=${found.username}\npassword=${found.password}\n\n` : '\n'
  }

  /** The credentials of the very address, else those of a place that it is below. */
  #find({ protocol, host, path }: z.infer<typeof Request>): Entry | undefined {
    const address = `${protocol}://${host}/${path}`
    return (
      this.#entries.find(({ place }) => place === address || decoded(place) === decoded(address)) ??
      this.#entries.find(({ place }) => isBelow(address, place))
    )
  }
}

/**
 * The helper (gitcredentials(7)): fixed text that hands git's question to the descriptor and its answer back. `read` takes
 * byte by byte, so that nothing of a later answer is lost.
 */
const HELPER = `!f() { test "$1" = get || exit 0; { cat; echo; } >&${GIT_CREDENTIALS_FD}; while IFS= read -r line <&${GIT_CREDENTIALS_FD} && test -n "$line"; do printf "%s\\n" "$line"; done; }; f`

/** Settings that have git ask the desk, about whole addresses. */
export const ASK_DESK = ['-c', 'credential.useHttpPath=true', '-c', `credential.helper=${HELPER}`]

const Request = z.object({ protocol: z.string(), host: z.string(), path: z.string().default('') })

/** Whether an address is below a place. Hosts of repositories take owners in any letter case. A step up could lead out. */
export function isBelow(address: string, place: string): boolean {
  return (
    !/\/(\.|%2e){1,2}(\/|$)/i.test(address) && address.toLowerCase().startsWith(`${place.toLowerCase()}/`)
  )
}

/** What two ways of writing one address share; git hands on paths without their escapes and last slash. */
function decoded(address: string): string {
  const parsed = parseRepositoryUrl(address)
  if (parsed === null) return address
  const { protocol, host, port, path } = parsed
  return JSON.stringify([protocol, host, port, path.split('/').filter((part) => part !== '')])
}
