import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { monotonicMs } from '../clock.ts'

/** As many as the C library asks (resolv.conf(5), MAXNS). */
const MAX_RESOLVERS = 3
/** How often the file is checked. */
const POLL_EVERY_MS = 1_000
/** If the file names no server: the one on the local machine (resolv.conf(5)). */
const LOCAL = ['127.0.0.1']

/** The host's name servers, as its file currently lists them. */
export class HostResolvers {
  #file: string
  #lookedAt = -Infinity
  #stamp = ''
  #servers: string[] = LOCAL

  constructor(file = '/etc/resolv.conf') {
    this.#file = file
  }

  /** Returns the servers in order, without those that would lead back here. */
  list(own: ReadonlySet<string>): string[] {
    this.#look()
    return this.#servers.filter((server) => !own.has(server)).slice(0, MAX_RESOLVERS)
  }

  /** Reads the file again if it has changed; if it cannot be read, the last list stays. */
  #look(): void {
    if (monotonicMs() - this.#lookedAt < POLL_EVERY_MS) return
    this.#lookedAt = monotonicMs()
    try {
      const { ino, size, mtimeMs } = statSync(this.#file)
      const stamp = `${ino} ${size} ${mtimeMs}`
      if (stamp === this.#stamp) return
      this.#servers = serversOf(readFileSync(this.#file, 'utf8'))
      this.#stamp = stamp
    } catch {
      // The file is being replaced, or does not exist.
    }
  }
}

function serversOf(text: string): string[] {
  const servers = text.split('\n').flatMap((line) => {
    const address = /^nameserver[ \t]+(\S+)/.exec(line)?.[1] ?? ''
    return isIP(address) === 0 ? [] : [address]
  })
  return servers.length > 0 ? servers : LOCAL
}
