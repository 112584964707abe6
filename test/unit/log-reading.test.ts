import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { provideContext, type Context } from '#server/context.ts'
import { newId } from '#server/ids.ts'
import { openServiceLog } from '#server/logs/read.ts'
import { ReaderRoom } from '#server/logs/room.ts'
import { serviceLog } from '#server/logs/service-logs.ts'
import { readOptions } from '#server/options/index.ts'

test('readers that leave in the middle of a read hold nothing afterwards', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'log-reading-'))
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }))
  provideContext({
    options: readOptions(['--data-dir', dataDirectory, '--http-listen', '127.0.0.1:80'], {}),
  } as Context)
  const id = newId('service')
  const log = serviceLog(id)
  const line = { ts: new Date().toISOString(), stream: 'stdout', line: 'x'.repeat(16_000) } as const
  log.append(Array.from({ length: 900 }, () => line))
  await log.flushed()
  onTestFinished(() => log.close())
  const whole = new ReaderRoom().left
  for (let reader = 0; reader < 8; reader++) {
    const { signal } = new AbortController()
    let looks = 0
    signal.throwIfAborted = () => {
      if (++looks > 80) throw new Error('the client left')
    }
    const reading = openServiceLog(id, { follow: false, tail: 100_000 }, signal)
    await expect(reading).rejects.toThrow('the client left')
  }
  expect(new ReaderRoom().left).toBe(whole)
})
