import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { app, start } from './lifetimes.ts'
import { HOST, statusOf, tableOf } from './stand.ts'

test('a node that does not know a flag of V8 is started without it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const node = join(folder, 'node')
  const refuses = 'case " $* " in *" --single-threaded-gc "*) exit 9 ;; esac'
  writeFileSync(node, `#!/bin/sh\n${refuses}\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 })
  const stand = await start(tableOf([(await app('v1')).spec]), { node })
  const connection = stand.raw()
  onTestFinished(() => connection.close())
  const answer = await connection.request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
  expect(statusOf(answer)).toBe(200)
})
