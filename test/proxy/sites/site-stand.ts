import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { RouteTable, Site } from '../../../proxy/protocol.ts'
import type { SiteRules } from '../../../proxy/sites/rules-file.ts'
import { HOST, ProxyStand, statusOf, tableOf, targetOf } from '../stand.ts'

export const H = `Host: ${HOST}`

/** Where the folders of a file's tests are published. */
export const root = mkdtempSync(join(tmpdir(), 'deployer-sites-'))
export let stand: ProxyStand
let published = 0

beforeAll(async () => {
  stand = await ProxyStand.start(tableOf([]))
})
afterAll(async () => {
  await stand.stop()
  rmSync(root, { recursive: true, force: true })
})

/** Publishes files and rules as a new folder; returns the folder. */
export function publish(files: Record<string, string | Buffer>, rules?: Partial<SiteRules> | string): string {
  const folder = join(root, `site-${++published}`)
  for (const [name, content] of Object.entries({ ...files })) {
    mkdirSync(dirname(join(folder, 'files', name)), { recursive: true })
    writeFileSync(join(folder, 'files', name), content)
  }
  const text = typeof rules === 'string' ? rules : JSON.stringify({ redirects: [], headers: [], ...rules })
  if (rules !== undefined) writeFileSync(join(folder, 'rules.json'), text)
  return folder
}

/** Serves the folder as the site of the only host. */
export async function serve(folder: string, earlier: Site['earlier'] = []): Promise<void> {
  await stand.client.applyTable(tableWith({ folder, earlier }))
}

/** A table whose only host is a site. */
export function tableWith(site: Site, state: RouteTable['targets'][string]['state'] = 'serving'): RouteTable {
  return tableOf([], { targets: { app: { ...targetOf([], state), site } } })
}

/** One request on its own connection: the head, its fields by lower case name, and the body. */
export async function ask(path: string, ...fields: string[]): Promise<Reply> {
  return replyOf(await askRaw(`GET ${path} HTTP/1.1`, ...fields))
}

/** The same, as it was received. */
export function askRaw(line: string, ...fields: string[]): Promise<string> {
  return stand
    .raw()
    .request(line, H, ...fields, 'Connection: close')
    .end()
}

interface Reply {
  status: number
  fields: Record<string, string>
  body: string
}

/** The parts of an answer. */
export function replyOf(received: string): Reply {
  const split = received.indexOf('\r\n\r\n')
  const lines = received.slice(0, split).split('\r\n').slice(1)
  const fields: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(': ')
    const name = line.slice(0, colon).toLowerCase()
    fields[name] = name in fields ? `${fields[name]}, ${line.slice(colon + 2)}` : line.slice(colon + 2)
  }
  return { status: statusOf(received), fields, body: received.slice(split + 4) }
}
