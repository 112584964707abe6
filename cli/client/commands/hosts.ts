import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import { didYouMean } from '../../suggest.ts'
import { printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { readHosts, writeHosts, type Hosts } from '../hosts.ts'

/** Lists the saved servers, without their tokens. */
export async function list({ out }: Call): Promise<void> {
  const { default: chosen, hosts } = readHosts()
  const rows = Object.entries(hosts).map(([alias, { url, token_hint, ca_file, environment, saved_at }]) => ({
    alias,
    url,
    is_default: alias === chosen,
    token_hint,
    ca_file,
    environment,
    saved_at,
  }))
  printList(out, rows, {
    columns: [
      {
        title: 'name',
        text: ({ alias, is_default }) => (is_default && out.isTerminal ? `${alias} *` : alias),
        isWhole: true,
      },
      { title: 'url', text: ({ url }) => url },
      { title: 'token', text: ({ token_hint }) => `…${token_hint}` },
      { title: 'saved', text: ({ saved_at }) => timeText(out, saved_at) },
    ],
    name: ({ alias }) => alias,
    emptyNote: 'No server is saved. deployer login <url> signs in to one.',
  })
}

/** Makes a saved server the default. */
export async function use({ out, words }: Call): Promise<void> {
  const hosts = readHosts()
  const alias = found(hosts, words[0]!)
  writeHosts({ ...hosts, default: alias })
  out.done(`${alias} (${hosts.hosts[alias]!.url}) is the default now`)
}

/** Forgets a saved server. */
export async function remove({ out, words }: Call): Promise<void> {
  const alias = found(readHosts(), words[0]!)
  const { url } = forget([alias])[0]!
  out.done(`${alias} is forgotten; its token works until it is revoked at ${url}/account`)
}

/** Removes saved servers; the first that is left becomes the default if it was among them. Returns what was removed. */
export function forget(aliases: readonly string[]): { alias: string; url: string }[] {
  const saved = readHosts()
  const removed = aliases.map((alias) => ({ alias, url: saved.hosts[alias]!.url }))
  const hosts = Object.fromEntries(Object.entries(saved.hosts).filter(([alias]) => !aliases.includes(alias)))
  const isDefaultGone = saved.default === null || aliases.includes(saved.default)
  writeHosts({ ...saved, hosts, default: isDefaultGone ? (Object.keys(hosts)[0] ?? null) : saved.default })
  return removed
}

function found({ hosts }: Hosts, alias: string): string {
  if (Object.hasOwn(hosts, alias)) return alias
  throw new Fault(
    EXIT.notFound,
    `there is no saved server ${alias}${didYouMean(alias, Object.keys(hosts)) || '; deployer hosts lists them'}`,
  )
}
