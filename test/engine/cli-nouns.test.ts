import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { client, linesOf, startClient } from '../cli/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
})
afterAll(async () => {
  await server?.stop()
})

const WORKER = ['--image', 'busybox:1', '--type', 'background_worker', 'start_command=sleep 600']
const DEPLOY_ID = /^dep-[0-9a-f]{20}\n$/

describe.concurrent('the command line', () => {
  test('creates a service and follows its first deploy', async () => {
    const live = await client(server, 'create', 'worker', ...WORKER)
    expect(live).toMatchObject({ code: 0, out: expect.stringMatching(DEPLOY_ID) })
    expect(linesOf(live.error).length).toBeGreaterThan(1)
    expect((await client(server, 'show', 'worker')).out).toMatch(/^srv-[0-9a-f]{20}-\S+\trunning\thealthy\t/m)
    expect(linesOf((await client(server, 'ls')).out)).toContainEqual(
      expect.stringMatching(/^worker\tproduction\tbackground_worker\trunning\t\t\d{4}-/),
    )
    const later = await client(server, 'update', 'worker', 'start_command=sleep 700')
    expect(later).toMatchObject({
      code: 0,
      error: expect.stringContaining('Takes effect with the next deploy'),
    })

    const failed = await client(server, 'create', 'failing', ...WORKER, 'pre_deploy_command=exit 3', '--json')
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.out)).toMatchObject({
      name: 'failing',
      latest_deploy: { status: 'deploy_failed' },
    })
    expect(JSON.parse(failed.error)).toMatchObject({ error: { code: 'deploy_failed', exit_code: 1 } })
    expect(await client(server, 'delete', 'failing', '--yes')).toMatchObject({
      code: 0,
      out: 'failing is deleted\n',
    })
  })

  test('applies a blueprint and follows all of its deploys, each under its name', async () => {
    const service = (name: string, more: string) =>
      `  - name: ${name}\n    type: background_worker\n    image: busybox:1\n    start_command: sleep 600\n${more}`
    const file = join(mkdtempSync(join(tmpdir(), 'deployer-apply-')), 'b.yaml')
    writeFileSync(
      file,
      `services:\n${service('good', '')}${service('bad', '    pre_deploy_command: exit 3\n')}`,
    )
    const applied = await client(server, 'apply', file, '--yes')
    expect(applied).toMatchObject({ code: 1, out: '+ service good\n+ service bad\ngood is live\n' })
    const lines = linesOf(applied.error)
    expect(lines.pop()).toMatch(/^deployer: bad: dep-[0-9a-f]{20} failed: /)
    expect(new Set(lines.map((line) => line.split(': ')[0]))).toEqual(new Set(['good', 'bad']))
  })

  test('creates a datastore, backs it up, downloads the backup and restores it into another', async () => {
    expect(await client(server, 'db', 'create', 'cache', '--kind', 'keyvalue')).toMatchObject({
      code: 0,
      out: 'cache is available\n',
    })
    const backup = JSON.parse((await client(server, 'db', 'backup', 'cache', '--json')).out)
    expect(backup.status).toBe('succeeded')
    expect(await client(server, 'db', 'backups', 'cache', '-q')).toMatchObject({ out: `${backup.id}\n` })
    const folder = mkdtempSync(join(tmpdir(), 'deployer-backup-'))
    const downloaded = startClient(server, ['db', 'download', 'cache', '-o', 'cache.rdb'], { cwd: folder })
    expect(await downloaded.ended).toMatchObject({ code: 0 })
    const bytes = readFileSync(join(folder, 'cache.rdb'))
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(backup.sha256)

    expect(await client(server, 'db', 'restore', 'cache', backup.id)).toMatchObject({ code: 2, out: '' })
    const restored = await client(server, 'db', 'restore', 'cache', backup.id, '--into', 'other')
    expect(restored).toMatchObject({ code: 0, out: `other is restored from ${backup.id}\n` })
    expect(await client(server, 'db', 'delete', 'other', '--yes')).toMatchObject({ code: 0 })
  })
})
