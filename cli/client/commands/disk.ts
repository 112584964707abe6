import type { CleanupResult, DiskUse } from '#server/disk-use/schema.ts'
import type { Call } from '../../call.ts'
import type { Output } from '../../output.ts'
import type { Api } from '../api.ts'
import { confirm } from '../ask.ts'
import { printFields, printTable } from '../columns.ts'
import { sizeText } from '../figures.ts'
import { withApi } from '../with-api.ts'

/** The engine may look at millions of files to say what they take, and removing many takes it long too. */
const LIMIT_MS = 10 * 60_000

type Removed = CleanupResult['removed'][number]

/** Shows how full the server's disks are, and with what. */
export async function disk(call: Call): Promise<void> {
  const { out } = call
  const use = await withApi(call, (api) => api.get<DiskUse>('/server/disk', {}, { limitMs: LIMIT_MS }))
  if (out.isJson) return out.json(use)
  const { total_bytes, free_bytes } = use.filesystem
  if (out.isTerminal) {
    printFields(out, [['free', `${sizeText(free_bytes)} of ${sizeText(total_bytes)}`]])
    out.line('')
  }
  printTable(out, use.kinds, [
    { title: 'kind', text: ({ kind }) => kind, isWhole: true },
    { title: 'items', text: ({ items }) => String(items ?? '') },
    { title: 'size', text: ({ bytes }) => (bytes === null ? 'unknown' : size(out, bytes)) },
  ])
  if (!out.isTerminal || use.top.length === 0) return
  out.line('')
  printTable(out, use.top, [
    { title: 'largest', text: ({ name }) => name },
    { title: 'kind', text: ({ kind }) => kind, isWhole: true },
    { title: 'size', text: ({ bytes }) => size(out, bytes), isWhole: true },
  ])
}

/** Shows what a cleanup would remove, and removes it once that is confirmed. */
export async function cleanup(call: Call): Promise<void> {
  const { out, words: kinds } = call
  await withApi(call, async (api) => {
    const plan = await cleanedUp(api, kinds, true)
    if (plan.removed.length === 0 || call.has('dry-run')) {
      if (out.isJson) return out.json(plan)
      if (plan.removed.length === 0 && out.isTerminal) out.note('There is nothing to remove.')
      return printRemoved(out, plan.removed)
    }
    if (!out.isJson) printRemoved(out, plan.removed)
    await confirm(call, `Remove this, ${sizeText(plan.freed_bytes)}?`)
    const result = await cleanedUp(api, kinds, false)
    out.done(`${sizeText(result.freed_bytes)} are free again`, result)
  })
}

function cleanedUp(api: Api, kinds: readonly string[], isDry: boolean): Promise<CleanupResult> {
  const body = { dry_run: isDry, ...(kinds.length === 0 ? {} : { kinds }) }
  return api.send<CleanupResult>('POST', '/server/cleanup', body, { limitMs: LIMIT_MS })
}

function printRemoved(out: Output, removed: readonly Removed[]): void {
  if (removed.length === 0) return
  printTable(out, removed, [
    { title: 'kind', text: ({ kind }) => kind, isWhole: true },
    { title: 'name', text: ({ name }) => name },
    { title: 'id', text: ({ id }) => id },
    { title: 'size', text: ({ bytes }) => size(out, bytes), isWhole: true },
  ])
}

function size(out: Output, bytes: number): string {
  return out.isTerminal ? sizeText(bytes) : String(bytes)
}
