import { afterEach, beforeEach, expect, test } from 'vitest'
import { announceService } from '#server/changes.ts'
import { Gathering } from '#server/logs/gathering.ts'
import { LogsQuery, type ServiceLogLine } from '#server/logs/schema.ts'
import { selectLogs, sharedFilter } from '#server/logs/selection.ts'
import { closeServiceLogs, serviceLog } from '#server/logs/service-logs.ts'
import { ServiceInput } from '#server/services/input.ts'
import { createService } from '#server/services/operations.ts'
import { deleteServiceRow, type ServiceRow } from '#server/services/store.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>

beforeEach(async () => {
  ;({ close } = await openContext())
})
afterEach(async () => {
  await closeServiceLogs()
  await close()
})

const create = (name: string) => createService(ServiceInput.parse({ name, deploy: false }))

const say = ({ id }: ServiceRow, line: string) =>
  serviceLog(id).append([{ ts: new Date().toISOString(), stream: 'stdout', line }])

function remove({ id }: ServiceRow): void {
  deleteServiceRow(id)
  announceService(id, 'deleted')
}

/** Begins to follow what a query asks for. */
async function gather(query: object, signal: AbortSignal): Promise<Gathering> {
  const parsed = LogsQuery.parse({ follow: 'true', ...query })
  const gathering = new Gathering(selectLogs(parsed), sharedFilter(parsed), signal)
  await gathering.join()
  return gathering
}

/** Follows what a query asks for. */
async function follow(query: object) {
  const left = new AbortController()
  const gathering = await gather(query, left.signal)
  const lines: ServiceLogLine[] = []
  const read = async () => {
    for await (const block of gathering.lines(left.signal))
      for (const line of block.toString('utf8').trimEnd().split('\n')) lines.push(JSON.parse(line))
  }
  const ended = read().finally(() => gathering.leave())
  return {
    texts: () => lines.map(({ service, line }) => `${service}: ${line}`),
    ended,
    leave: () => left.abort(),
  }
}

test('an environment is followed with its later services, until the reader leaves', async () => {
  const web = create('web')
  const all = await follow({})
  say(web, 'one')
  const later = create('later')
  await expect.poll(() => (say(later, 'two'), all.texts())).toContain('later: two')
  remove(later)
  say(later, 'unheard')
  say(web, 'three')
  await expect.poll(all.texts).toContain('web: three')
  expect(all.texts()[0]).toBe('web: one')
  expect(all.texts()).not.toContain('later: unheard')
  all.leave()
  await all.ended
})

test('named services are followed until the last of them is deleted', async () => {
  const [web, api, other] = [create('web'), create('api'), create('other')]
  const both = await follow({ service: 'web,api', search: 'LINE', level: 'error' })
  say(other, 'ERROR a line of another')
  say(web, 'ERROR a line')
  say(web, 'WARN a line')
  say(web, 'ERROR something else')
  remove(web)
  say(api, 'ERROR the last line')
  await expect.poll(both.texts).toEqual(['web: ERROR a line', 'api: ERROR the last line'])
  remove(api)
  await both.ended
})

test('many followers together may fall behind as far as a few, and each is told what it missed', async () => {
  const web = create('web')
  const left = new AbortController()
  const heardBy = async (count: number): Promise<string> => {
    const gatherings = await Promise.all(Array.from({ length: count }, () => gather({}, left.signal)))
    // 3 MB, of which each of 32 has room for two.
    for (let line = 0; line < 200; line++) say(web, 'words '.repeat(2_500))
    const { value } = await gatherings[0]!.lines(left.signal).next()
    for (const each of gatherings) each.leave()
    return value!.toString('utf8')
  }
  expect(await heardBy(1)).not.toContain('lost here')
  await serviceLog(web.id).flushed()
  expect(await heardBy(32)).toMatch(/\d+ lines were lost here: this reader fell behind/)
  left.abort()
})
