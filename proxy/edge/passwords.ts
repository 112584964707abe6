import { crypto } from '../modules.ts'

/** Checks at a time: each takes one of node's four threads, which files need too, and 16 MiB. */
const MAX_CHECKS = 2
/** Each takes about 150 ms, so that the last of more would wait for longer than a visitor does. */
const MAX_WAITING = 64
/** Clients whose password was right, of all services; the one that was checked first is forgotten first. */
const MAX_KNOWN = 10_000
const MAX_MEMORY_BYTES = 128 * 1024 * 1024
const KEY_BYTES = 32

/** A password as its scrypt hash. */
export interface PasswordHash {
  N: number
  r: number
  p: number
  salt: Buffer
  key: Buffer
}

/** A hash of which nobody knows the password: names that do not exist take as long as those that do. */
const NOBODY = '$scrypt$ln=14,r=8,p=5$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

/** Reads a hash in the PHC string format, `$scrypt$ln=14,r=8,p=5$salt$key`, which was checked with the table. */
function parseHash(text: string): PasswordHash {
  const [, , parameters = '', salt = '', key = ''] = text.split('$')
  const [ln = 0, r = 0, p = 0] = parameters.split(',').map((parameter) => Number(parameter.split('=')[1]))
  return { N: 2 ** ln, r, p, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') }
}

/** Checks passwords of clients away from the requests, and knows those that were right. */
export class Passwords {
  readonly #secret = crypto().randomBytes(KEY_BYTES).toString('latin1')
  readonly #known = new Set<string>()
  /** Checks under way, by what `digestOf` returns. */
  readonly #checks = new Map<string, Promise<boolean>>()
  #running = 0
  readonly #waiting: (() => void)[] = []

  /**
   * Returns what a client's credentials are remembered by, under this version of the users. They are not kept themselves, and
   * since the digest has a secret, how long it takes to find says nothing about others. It never leaves the worker.
   */
  digestOf(users: string, credentials: string): string {
    return crypto().hash('sha256', `${this.#secret}${users} ${credentials}`, 'base64')
  }

  knows(digest: string): boolean {
    return this.#known.has(digest)
  }

  /** Whether no more checks can wait. */
  get full(): boolean {
    return this.#waiting.length >= MAX_WAITING
  }

  /** The check under way of the same credentials. */
  underWay(digest: string): Promise<boolean> | undefined {
    return this.#checks.get(digest)
  }

  /** Whether the password is the one of the hash; without a hash it takes as long and is wrong. */
  check(digest: string, password: Buffer, hash: string | undefined): Promise<boolean> {
    const check = this.#inTurn(() => verify(password, hash)).then((isRight) => {
      this.#checks.delete(digest)
      if (isRight) this.#remember(digest)
      return isRight
    })
    this.#checks.set(digest, check)
    return check
  }

  #remember(digest: string): void {
    this.#known.add(digest)
    if (this.#known.size <= MAX_KNOWN) return
    for (const oldest of this.#known) return void this.#known.delete(oldest)
  }

  async #inTurn(work: () => Promise<boolean>): Promise<boolean> {
    if (this.#running >= MAX_CHECKS) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}

async function verify(password: Buffer, hash: string | undefined): Promise<boolean> {
  const { N, r, p, salt, key } = parseHash(hash ?? NOBODY)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  try {
    crypto().scrypt(password, salt, key.length, { N, r, p, maxmem: MAX_MEMORY_BYTES }, (error, derived) =>
      resolve(!error && crypto().timingSafeEqual(derived, key) && hash !== undefined),
    )
  } catch {
    // Node has no memory for it.
    return false
  }
  return promise
}
