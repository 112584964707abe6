import { createHash } from 'node:crypto'
import { rmSync, truncateSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBucket, type TestBucket } from '../stand/bucket.ts'
import type { TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import {
  backUp,
  backupFile,
  backupsOf,
  endOfBackup,
  fill,
  keyvalue,
  restored,
  startCache,
  type Backup,
  type Datastore,
} from './datastore-support.ts'

/** The size of an upload that takes long enough to be interrupted in the middle: three parts. */
const UPLOAD_MIB = 40

let bucket: TestBucket
let server: TestServer
let cache: Datastore

beforeAll(async () => {
  bucket = await startBucket()
  ;({ server, cache } = await startCache(bucket.flags))
})

afterAll(async () => {
  await server?.stop()
  await bucket?.stop()
})

/** The object of a backup. */
async function objectOf({ id }: Backup): Promise<string | undefined> {
  return (await bucket.objects()).find((name) => name.includes(id))
}

function asked(name: string, { id }: Backup, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/api/v1/datastores/${name}/backups/${id}/download`, {
    headers: { authorization: `Bearer ${server.token}`, ...headers },
  })
}

async function download(name: string, backup: Backup): Promise<string> {
  const answer = await asked(name, backup)
  expect(answer.status).toBe(200)
  return createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex')
}

describe('a backup', () => {
  test('is copied to the bucket too, under a name that people understand', async () => {
    const backup = await backUp(server, 'cache')
    expect(backup).toMatchObject({ status: 'succeeded', stored: ['local', 's3'], error: null })
    expect(await objectOf(backup)).toMatch(
      new RegExp(`^of-tests/production/cache/${backup.id}-cache-[0-9TZ-]+\\.rdb$`),
    )
  })

  test('in many parts arrives complete, and nothing unfinished is left', { tags: ['slow'] }, async () => {
    await fill(cache, 20)
    const backup = await backUp(server, 'cache')
    expect(backup.size_bytes).toBeGreaterThan(17 * 1024 * 1024)
    expect(backup.stored).toEqual(['local', 's3'])
    expect(await bucket.uploads()).toEqual([])
    rmSync(backupFile(server, backup.id))
    expect(await download('cache', backup)).toBe(backup.sha256)
    await keyvalue(cache.external_url, async (client) => {
      await client.flushAll()
      await client.set('at', 'first')
    })
  })

  test('whose file is gone or damaged is downloaded and restored from the bucket', async () => {
    const gone = await backUp(server, 'cache')
    await keyvalue(cache.external_url, (client) => client.set('at', 'later'))
    rmSync(backupFile(server, gone.id))
    const [shown] = await backupsOf(server, 'cache')
    expect(shown?.stored).toEqual(['s3'])
    expect(await download('cache', gone)).toBe(gone.sha256)
    const part = await asked('cache', gone, { range: 'bytes=5-8' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 5-8/${gone.size_bytes}`])
    expect(await part.text()).toMatch(/^\d{4}$/)
    expect((await restored(server, 'cache', gone.id)).error).toBeNull()
    expect(await keyvalue(cache.external_url, (client) => client.get('at'))).toBe('first')
    // The local file exists again.
    expect((await backupsOf(server, 'cache'))[0]?.stored).toEqual(['local', 's3'])
    await keyvalue(cache.external_url, (client) => client.set('at', 'later'))
    truncateSync(backupFile(server, gone.id), 40)
    expect((await restored(server, 'cache', gone.id)).error).toBeNull()
    expect(await keyvalue(cache.external_url, (client) => client.get('at'))).toBe('first')
  })

  test('is not restored from a copy that was changed or removed', { tags: ['slow'] }, async () => {
    const changed = await backUp(server, 'cache')
    rmSync(backupFile(server, changed.id))
    await bucket.write((await objectOf(changed))!, 'REDIS0011 of somebody else')
    const now = await restored(server, 'cache', changed.id)
    expect(now.error).toMatch(/^it was not restored: the copy at http.* has 26 bytes where \d+ were written/)
    await bucket.remove((await objectOf(changed))!)
    expect((await restored(server, 'cache', changed.id)).error).toContain('is gone from http')
    const path = `/datastores/cache/backups/${changed.id}`
    expect(await server.api('GET', `${path}/download`)).toMatchObject({
      status: 500,
      body: { error: { code: 'io_error' } },
    })
    expect((await server.api('DELETE', path)).status).toBe(204)
  })

  test(
    'is removed from the bucket when it is deleted and when it exceeds the retention',
    { tags: ['slow'] },
    async () => {
      const [first, second, third] = [
        await backUp(server, 'cache'),
        await backUp(server, 'cache'),
        await backUp(server, 'cache'),
      ]
      expect((await server.api('DELETE', `/datastores/cache/backups/${second.id}`)).status).toBe(204)
      await server.api('PATCH', '/datastores/cache', { backup_retention: 1 })
      await waitFor(async () => {
        const names = (await bucket.objects()).filter((name) => name.includes('/cache/'))
        return names.length === 1 && names[0]!.includes(third.id)
      }, `${first.id} and ${second.id} to go`)
      await server.api('PATCH', '/datastores/cache', { backup_retention: 7 })
    },
  )
})

describe('a failing bucket', () => {
  test('leaves the backup here with the reason, and gets the copy when it works again', async () => {
    await bucket.goAway()
    const backup = await backUp(server, 'cache')
    expect(backup).toMatchObject({ status: 'succeeded', stored: ['local'] })
    expect(backup.error).toMatch(/^it was not copied, .* cannot be reached: connect ECONNREFUSED/)
    expect(backup.error).not.toContain(bucket.secret)
    expect(await download('cache', backup)).toBe(backup.sha256)
    await bucket.comeBack()
    await server.restart()
    const later = await waitFor(async () => {
      const { body } = await server.api('GET', `/datastores/cache/backups/${backup.id}`)
      return body.stored.length === 2 ? (body as Backup) : null
    }, 'its copy')
    expect(later.error).toBeNull()
  })

  test(
    'keeps nothing unfinished when the server is killed in the middle of an upload',
    { tags: ['slow'] },
    async () => {
      await fill(cache, UPLOAD_MIB)
      const { body } = await server.api('POST', '/datastores/cache/backups')
      await waitFor(async () => (await bucket.uploads()).length > 0, 'the upload to begin')
      bucket.freeze()
      await server.kill('SIGKILL')
      bucket.thaw()
      await server.restart()
      const backup = await endOfBackup(server, 'cache', body.id)
      expect(backup).toMatchObject({ status: 'succeeded', stored: ['local', 's3'], error: null })
      expect(await bucket.uploads()).toEqual([])
    },
  )

  test(
    'keeps nothing of an upload when the datastore is deleted in the middle',
    { tags: ['slow'] },
    async () => {
      await server.api('POST', '/datastores/cache/backups')
      await waitFor(async () => (await bucket.uploads()).length > 0, 'the upload to begin')
      expect((await server.api('DELETE', '/datastores/cache')).status).toBe(204)
      await waitFor(async () => {
        const names = [...(await bucket.objects()), ...(await bucket.uploads())]
        return names.every((name) => !name.includes('/cache/'))
      }, 'all of it to go')
    },
  )
})

test("refused keys leave the backup here with the bucket's answer", { tags: ['slow'] }, async () => {
  await server.kill('SIGTERM')
  const other = await startCache([...bucket.flags.slice(0, -1), 'another-secret'])
  try {
    const backup = await backUp(other.server, 'cache')
    expect(backup).toMatchObject({ status: 'succeeded', stored: ['local'] })
    expect(backup.error).toContain('SignatureDoesNotMatch')
  } finally {
    await other.server.stop()
  }
})
