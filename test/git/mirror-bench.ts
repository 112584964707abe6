import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Checkout, CheckoutRequest } from '../../daemon/sources/git.ts'
import { useBuiltReader } from '../support/reader.ts'
import { checkOut } from './checkouts.ts'
import { Repository, startRemotes, type Remotes } from './remotes.ts'

export let remotes: Remotes
/** Where a test works, and its log. */
export const bench = { home: '', lines: [] as string[] }
/** What is removed after a test. */
let own: string
let count = 0

/** Gives the tests of a file remotes, over HTTP and the other protocols, and each test a folder of its own. */
export function useMirrors(...further: ('git' | 'ssh')[]): void {
  beforeAll(useBuiltReader)
  beforeAll(async () => void (remotes = await startRemotes(further)), 30_000)
  afterAll(() => remotes.close())
  beforeEach(() => {
    bench.home = own = mkdtempSync(join(tmpdir(), 'mirrors-'))
    bench.lines = []
  })
  afterEach(() => rmSync(own, { recursive: true, force: true }))
}

export const repository = (format?: 'sha256') => new Repository(remotes, `m${(count += 1)}`, format)
export const name = (of: Repository) => of.bare.split('/').at(-1)!
export const tree = (at = 'tree') => join(bench.home, at)
export const mirrors = () => join(bench.home, 'mirrors')
/** The only mirror. */
export const mirror = () => join(mirrors(), readdirSync(mirrors())[0]!)
export const packs = () =>
  readdirSync(join(mirror(), 'objects/pack')).filter((file) => file.endsWith('.pack'))

export function get(of: Repository, rest: Partial<CheckoutRequest> = {}): Promise<Checkout> {
  const url = `${remotes.http}/${name(of)}`
  return checkOut(bench.home, remotes, url, {
    onLine: (line) => bench.lines.push(line),
    holder: 'one',
    ...rest,
  })
}

export const contentOf = (file: string) => readFileSync(join(tree(), file), 'utf8')

/** A text of about this size in a pack. */
export const large = (seed: number) =>
  Array.from({ length: 4_000 }, (_, index) => Math.sin(seed + index).toString(36)).join('\n')
