import { useDatabase } from '#server/context.ts'
import { readSetting, writeSetting } from '#server/database/settings.ts'
import { isId } from '#server/ids.ts'
import { isService } from '#server/metrics/targets.ts'
import { getNode } from '#server/nodes/store.ts'
import { getRedirectHost } from '#server/redirect-hosts/store.ts'
import { getService } from '#server/services/store.ts'
import { RequestSums, type KeptSums } from './request-sums.ts'

const KEY = 'request_sums'

/** The sums of all data planes, as they were when the server was last told to keep them. */
export function keptSums(): RequestSums {
  const text = readSetting(useDatabase(), KEY)
  return new RequestSums(text === undefined ? null : (JSON.parse(text) as KeptSums))
}

/** Keeps sums before they are told, so that none that was told goes down, however the server ends. */
export function keepSums(sums: RequestSums): void {
  if (!sums.kept) return
  const text = JSON.stringify(sums.kept)
  if (text !== readSetting(useDatabase(), KEY)) writeSetting(useDatabase(), KEY, text)
}

/** Takes out of sums what belonged to services, redirect hosts and nodes that are gone. */
export function forgetGone(sums: RequestSums): void {
  sums.forget(isThere, (id) => getNode(id) !== undefined)
}

function isThere(target: string): boolean {
  if (isService(target)) return getService(target) !== undefined
  return !isId('redirectHost', target) || getRedirectHost(target) !== undefined
}
