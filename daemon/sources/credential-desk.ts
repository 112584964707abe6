import { z } from 'zod'
import { parseRepositoryUrl } from '#server/git/url.ts'
import type { Duplex } from 'node:stream'
import { GIT_CREDENTIALS_FD } from './git-lifeline.ts'

/** git's requests are a few short lines; anything longer is not from git. */
const MAX_REQUEST_CHARACTERS = 16 * 1024

interface Entry {
  /** The URL of a repository, or the prefix of all URLs below it: an origin, or an owner there. */
  place: string
  username: string
  password: string
}

/**
 * Answers git's requests for credentials, by git's own protocol (git-credential(1)) over a descriptor that only git and its
 * children have: credentials appear on no command line, in no environment and in no file. Each is given out only for its
 * place, so that neither a redirect nor a submodule elsewhere gets it.
 */
export class CredentialDesk {
  readonly #entries: Entry[] = []

  /** Adds credentials for one URL, or for all URLs below an origin or an owner there. */
  add(place: string, username: string | null, password: string | null): void {
    this.#entries.push({ place, username: username ?? '', password: password ?? '' })
  }

  /** The credentials for an HTTP URL; null when there are none. */
  credentialsAt(url: string): { username: string; password: string } | null {
    const { protocol, host, pathname } = new URL(url)
    return this.#find({ protocol: protocol.slice(0, -1), host, path: pathname.slice(1) }) ?? null
  }

  /** Answers the requests on a stream until it ends. */
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

  /** The credentials for exactly this URL, else those for a place above it. */
  #find({ protocol, host, path }: z.infer<typeof Request>): Entry | undefined {
    const address = `${protocol}://${host}/${path}`
    return (
      this.#entries.find(({ place }) => place === address || decoded(place) === decoded(address)) ??
      this.#entries.find(({ place }) => isBelow(address, place))
    )
  }
}

/**
 * The helper (gitcredentials(7)): a fixed script that passes git's request to the descriptor and the answer back. `read`
 * reads byte by byte, so that nothing of a later answer is lost.
 */
const HELPER = `!f() { test "$1" = get || exit 0; { cat; echo; } >&${GIT_CREDENTIALS_FD}; while IFS= read -r line <&${GIT_CREDENTIALS_FD} && test -n "$line"; do printf "%s\\n" "$line"; done; }; f`

/** Settings with which git asks the desk, with complete URLs. */
export const ASK_DESK = ['-c', 'credential.useHttpPath=true', '-c', `credential.helper=${HELPER}`]

const Request = z.object({ protocol: z.string(), host: z.string(), path: z.string().default('') })

/** Whether a URL is below a place. Owners are compared without case, as git hosts do. A `..` in the path could lead out. */
export function isBelow(address: string, place: string): boolean {
  return (
    !/\/(\.|%2e){1,2}(\/|$)/i.test(address) && address.toLowerCase().startsWith(`${place.toLowerCase()}/`)
  )
}

/** A normal form of a URL, since git passes on paths without their escapes and their trailing slash. */
function decoded(address: string): string {
  const parsed = parseRepositoryUrl(address)
  if (parsed === null) return address
  const { protocol, host, port, path } = parsed
  return JSON.stringify([protocol, host, port, path.split('/').filter((part) => part !== '')])
}
