import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Checkout, CheckoutRequest } from '../../daemon/sources/git.ts'
import { useBuiltReader } from '../support/reader.ts'
import { accessFrom, checkOut } from './checkouts.ts'
import { Repository, startRemotes, type Remotes } from './remotes.ts'

export let remotes: Remotes
/** Where a test works. */
export let home: string
let count = 0

/** Gives the tests of a file remotes, over HTTP and the other protocols, and each test a folder of its own. */
export function useRemotes(...further: ('git' | 'ssh')[]): void {
  beforeAll(useBuiltReader)
  beforeAll(async () => void (remotes = await startRemotes(further)), 30_000)
  afterAll(() => remotes.close())
  beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'checkout-'))))
  afterEach(() => rmSync(home, { recursive: true, force: true }))
}

export const access = () => accessFrom(home, remotes)
export const tree = () => join(home, 'tree')
/** A new one, in an owner's folder if given. */
export const repository = (format?: 'sha256', owner = '') =>
  new Repository(remotes, join(owner, `r${(count += 1)}`), format)
export const name = (of: Repository) => of.bare.split('/').at(-1)!
export const withPassword = (user: string, password: string) =>
  remotes.privateHttp.replace('://', `://${encodeURIComponent(user)}:${encodeURIComponent(password)}@`)

export function get(url: string, rest: Partial<CheckoutRequest> = {}): Promise<Checkout> {
  return checkOut(home, remotes, url, rest)
}
