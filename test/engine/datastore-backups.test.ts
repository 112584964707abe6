import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import type { TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import {
  backUp,
  backupsOf,
  become,
  endOfBackup,
  grow,
  query,
  startStores,
  type Backup,
  type Datastore,
} from './datastore-support.ts'
import { docker } from './live.ts'

let server: TestServer
let db: Datastore
let cache: Datastore

beforeAll(async () => {
  ;({ server, db, cache } = await startStores())
})

afterAll(async () => {
  await server?.stop()
})

function folder(): string {
  return join(server.dataDirectory, 'backups')
}

describe('a backup', () => {
  test.each([
    ['db', 'dump', /^PGDMP/],
    ['cache', 'rdb', /^REDIS/],
  ])(
    'of %s is a file of the program itself, complete and readable only by its owner',
    async (name, extension, magic) => {
      const backup = await backUp(server, name)
      expect(backup).toMatchObject({ status: 'succeeded', error: null, trigger: 'manual' })
      expect(statSync(join(folder(), backup.id)).mode & 0o777).toBe(0o600)
      const answer = await fetch(`${server.url}/api/v1/datastores/${name}/backups/${backup.id}/download`, {
        headers: { authorization: `Bearer ${server.token}` },
      })
      expect(answer.headers.get('content-length')).toBe(String(backup.size_bytes))
      expect(answer.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="${name}-[0-9TZ-]+\\.${extension}"$`),
      )
      const bytes = Buffer.from(await answer.arrayBuffer())
      expect(bytes.toString('latin1')).toMatch(magic)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(backup.sha256)
      const list = await backupsOf(server, name)
      expect(list.map(({ id }) => id)).toEqual([backup.id])
    },
  )

  test('continues an interrupted download where it stopped', async () => {
    const [backup] = (await backupsOf(server, 'cache')) as [Backup]
    const size = backup.size_bytes
    const ask = (headers: Record<string, string>, method = 'GET') =>
      fetch(`${server.url}/api/v1/datastores/cache/backups/${backup.id}/download`, {
        method,
        headers: { authorization: `Bearer ${server.token}`, ...headers },
      })
    const whole = await ask({})
    const etag = whole.headers.get('etag')!
    const modified = whole.headers.get('last-modified')!
    expect(whole.headers.get('accept-ranges')).toBe('bytes')
    const bytes = Buffer.from(await whole.arrayBuffer())
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10],
      ['bytes=10-', 10, size],
      ['bytes=-4', size - 4, size],
      [`bytes=5-${size + 100}`, 5, size],
    ] as const) {
      const part = await ask({ range, 'if-range': etag })
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes ${start}-${end - 1}/${size}`,
      ])
      expect(part.headers.get('content-length')).toBe(String(end - start))
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(start, end))).toBe(true)
    }
    // Another content, a part that makes no sense, several at once, and a HEAD: the whole file.
    const unheeded: Record<string, string>[] = [
      { 'if-range': '"another"' },
      { range: 'bytes=9-8' },
      { range: 'bytes=0-1,4-5' },
    ]
    for (const headers of unheeded) {
      const answer = await ask({ range: 'bytes=0-9', ...headers })
      expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, size])
    }
    const head = await ask({ range: 'bytes=0-9' }, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)])
    const beyond = await ask({ range: `bytes=${size}-` })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`])
    expect(await beyond.json()).toMatchObject({ error: { code: 'range_not_satisfiable' } })
    expect((await ask({ 'if-none-match': `"b", ${etag}` })).status).toBe(304)
    expect((await ask({ 'if-modified-since': modified })).status).toBe(304)
    const other = await ask({ 'if-match': '"another"' })
    expect([other.status, await other.json()]).toMatchObject([
      412,
      { error: { code: 'precondition_failed' } },
    ])
  })

  test('is deleted together with its file', async () => {
    const { id } = await backUp(server, 'cache')
    expect((await server.api('DELETE', `/datastores/cache/backups/${id}`)).status).toBe(204)
    expect((await server.api('GET', `/datastores/cache/backups/${id}`)).status).toBe(404)
    expect(existsSync(join(folder(), id))).toBe(false)
  })

  test('belongs to one datastore', async () => {
    const [{ id }] = (await backupsOf(server, 'db')) as [Backup]
    expect((await server.api('GET', `/datastores/cache/backups/${id}`)).status).toBe(404)
  })

  test('is removed beyond those that are kept, the oldest first', async () => {
    await server.api('PATCH', '/datastores/cache', { backup_retention: 2 })
    const made = [await backUp(server, 'cache'), await backUp(server, 'cache'), await backUp(server, 'cache')]
    const kept = made.slice(1).map(({ id }) => id)
    await waitFor(async () => {
      return (await backupsOf(server, 'cache')).length === 2
    }, 'the surplus to go')
    expect((await backupsOf(server, 'cache')).map(({ id }) => id).reverse()).toEqual(kept)
    const files = readdirSync(folder())
    expect(files).toEqual(expect.arrayContaining(kept))
    expect(files).not.toContain(made[0]!.id)
  })
})

describe('a backup that is scheduled', () => {
  test('that was missed while the server was down is made up once', async () => {
    const now = new Date()
    const threeMinutesAgo = (now.getUTCMinutes() + 57) % 60
    await server.api('PATCH', '/datastores/cache', { backup_schedule: `${threeMinutesAgo} * * * *` })
    await server.kill('SIGTERM')
    const database = databaseOf(server.dataDirectory)
    database
      .prepare('UPDATE datastores SET backup_seen_at = ? WHERE id = ?')
      .run(now.getTime() - 10 * 60_000, cache.id)
    database.close()
    await server.restart()
    const scheduled = async () =>
      (await backupsOf(server, 'cache')).filter(({ trigger }) => trigger === 'schedule')
    await waitFor(async () => (await scheduled())[0]?.status === 'succeeded', 'the backup')
    expect(await scheduled()).toHaveLength(1)
  })
})

describe('a running backup', () => {
  beforeAll(() => grow(db), 60_000)

  async function begin(): Promise<string> {
    await become(server, db.id, 'available')
    await waitFor(async () => {
      return (await backupsOf(server, 'db')).every(({ status }) => status !== 'running')
    }, 'the last backup to end')
    const { status, body } = await server.api('POST', '/datastores/db/backups')
    expect(status).toBe(202)
    await waitFor(() => existsSync(join(folder(), `${body.id}.part`)), 'its file')
    return body.id as string
  }

  test('is the only one, cannot be deleted and has no file yet', async () => {
    const id = await begin()
    const second = await server.api('POST', '/datastores/db/backups')
    expect(second).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(second.body.error.message).toContain(id)
    expect((await server.api('DELETE', `/datastores/db/backups/${id}`)).status).toBe(409)
    expect((await server.api('GET', `/datastores/db/backups/${id}/download`)).status).toBe(409)
    const shape = '{{.Path}} {{.Args}} {{.HostConfig.LogConfig.Type}}'
    const seen = await docker('inspect', '-f', shape, id)
    expect(seen).toMatch(/^pg_dump \[--format=custom .*\] none$/)
    expect(seen).not.toMatch(/[0-9a-f]{48}/)
    expect(await endOfBackup(server, 'db', id)).toMatchObject({ status: 'succeeded' })
    expect(await docker('ps', '-aq', '--filter', `name=${id}`)).toBe('')
  })

  test('fails when its datastore ends in the middle, and leaves nothing', { tags: ['slow'] }, async () => {
    const id = await begin()
    await docker('kill', db.id)
    const backup = await endOfBackup(server, 'db', id)
    expect(backup.status).toBe('failed')
    expect(backup.error).toMatch(/pg_dump ended with exit code 1: /)
    expect(readdirSync(folder()).filter((name) => name.startsWith(id))).toEqual([])
    // The server may not have seen its end yet.
    await waitFor(() => query(db.external_url, 'SELECT 1'), 'it to answer again')
    await become(server, db.id, 'available')
  })

  test('fails when the disk is full, and leaves nothing', { tags: ['slow'] }, async () => {
    const kept = readdirSync(folder())
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder()])
    try {
      const backup = await backUp(server, 'db')
      expect(backup).toMatchObject({ status: 'failed', size_bytes: null })
      expect(backup.error).toContain('data directory is full')
      expect(readdirSync(folder())).toEqual([])
      await waitFor(
        async () => (await docker('ps', '-aq', '--filter', `name=${backup.id}`)) === '',
        'its container to go',
      )
    } finally {
      await promisify(execFile)('umount', [folder()])
    }
    expect(readdirSync(folder())).toEqual(kept)
  })

  test('fails when the server is killed, and leaves nothing', async () => {
    const id = await begin()
    await server.kill('SIGKILL')
    await server.restart()
    const backup = await endOfBackup(server, 'db', id)
    expect(backup.status).toBe('failed')
    expect(backup.error).toContain('the server stopped')
    await waitFor(() => !existsSync(join(folder(), `${id}.part`)), 'its file to go')
    await waitFor(
      async () => (await docker('ps', '-aq', '--filter', `name=${id}`)) === '',
      'its container to go',
    )
    expect(await backUp(server, 'db')).toMatchObject({ status: 'succeeded' })
  })

  test('ends when its datastore is deleted, and everything is removed', async () => {
    const id = await begin()
    expect((await server.api('DELETE', '/datastores/db')).status).toBe(204)
    expect((await server.api('GET', `/datastores/${db.id}/backups/${id}`)).status).toBe(404)
    expect(await docker('ps', '-aq', '--filter', `name=${id}`)).toBe('')
    const left = await backupsOf(server, 'cache')
    expect(readdirSync(folder()).sort()).toEqual(left.map(({ id }) => id).sort())
  })
})
