import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBucket, type TestBucket } from '../stand/bucket.ts'
import { sweepEngine } from '../stand/engine.ts'
import { builtServer } from '../support/build.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Browser } from '../api/account-client.ts'
import { become, create as createDatastore, keyvalue } from './datastore-support.ts'
import { tarOf } from './engine-support.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

const run = promisify(execFile)
const PASSPHRASE = 'correct horse battery staple'

let folder: string
let server: TestServer
let web: string
let cache: string
let backup: string
let bucket: TestBucket
let flags: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'server-restore-'))
  writeFileSync(join(folder, 'passphrase'), `${PASSPHRASE}\n`)
  bucket = await startBucket()
  flags = [...bucket.flags, '--backup-passphrase-file', join(folder, 'passphrase')]
  server = await startServer({ engine: true, dataDirectory: join(folder, 'data'), flags })
  await new Browser(server.url).setUp(server.setupCode)
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  const store = await createDatastore(server, { kind: 'keyvalue', name: 'cache' })
  cache = store.id
  web = (await server.api('POST', '/services', { name: 'web' })).body.id
  await upload('web', {
    Dockerfile:
      'FROM busybox:1\nCOPY page /www/index.html\nCMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]\n',
    page: 'first',
  })
  await server.api('POST', '/services', { name: 'site', type: 'static_site' })
  await upload('site', { 'index.html': 'a page' })
  const { external_url } = await become(server, cache, 'available')
  await keyvalue(external_url, (client) => client.set('at', 'backed up'))
  backup = join(folder, 'backup.tar.gz')
  await deployer('backup', backup)
  await keyvalue(external_url, (client) => client.set('at', 'later'))
})
afterAll(async () => {
  await server?.stop()
  await bucket?.stop()
  const id = serverId()
  if (id) await sweepEngine(id)
  rmSync(folder, { recursive: true, force: true })
})

const dataDirectory = () => join(folder, 'data')

function serverId(): string {
  try {
    return (JSON.parse(readFileSync(join(folder, 'id'), 'utf8')) as { id: string }).id
  } catch {
    return ''
  }
}

async function upload(name: string, files: Record<string, string>): Promise<void> {
  const archive = gzipSync(await buffer(tarOf(files)))
  const { status, body } = await server.api('POST', `/services/${name}/deploys/upload`, archive, {
    headers: { 'content-type': 'application/gzip' },
  })
  expect(status).toBe(202)
  expect(await endOf(server, body.id)).toMatchObject({ status: 'live', error: null })
}

async function deployer(...words: string[]): Promise<string> {
  const env = {
    ...process.env,
    DEPLOYER_DATA_DIR: dataDirectory(),
    DEPLOYER_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase'),
  }
  return (await run(process.execPath, [await builtServer(), ...words], { env })).stdout
}

const page = async (name: string) => (await fetchFrom(server, `${name}.localhost`)).text

async function finished() {
  return await waitFor(async () => {
    const { body } = await server.api('GET', '/server/restore')
    return body.status === 'done' ? (body as { steps: Record<string, unknown>[] }) : null
  }, 'the restore')
}

describe('a backup of the server', () => {
  it('is sealed, and copied to the bucket under a name that sorts by time', async () => {
    // It is in the bucket some time after the file has arrived.
    const row = await waitFor(async () => {
      const [{ status, ...more }] = (await server.api('GET', '/server/backups')).body
      return status === 'running' ? null : { status, ...more }
    }, 'its end')
    expect(row).toMatchObject({ status: 'succeeded', encrypted: true, error: null, stored: ['local', 's3'] })
    expect(readFileSync(backup).subarray(0, 21).toString()).toBe('age-encryption.org/v1')
    const names = (await bucket.objects()).filter((name) => name.includes('/server/'))
    expect(names).toEqual([expect.stringMatching(/\/server\/\d{4}-\d\d-\d\dT\d{6}Z-sbk-\w+\.tar\.gz\.age$/)])
    const listed = await deployer('restore', '--from-bucket', '--list', ...bucket.flags)
    expect(listed.trim()).toBe(names[0]!.split('/').at(-1))
    const { status, body } = await server.api('POST', `/server/backups/${row.id}/verify`)
    expect([status, body.error]).toEqual([200, null])
  })
})

describe('a server that is restored', () => {
  it('over its own data serves what runs, changes nothing until it is confirmed, and then keeps it', async () => {
    await upload('web', {
      Dockerfile:
        'FROM busybox:1\nCOPY page /www/index.html\nCMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]\n',
      page: 'second',
    })
    await waitFor(async () => (await containersOf(web)).length === 1, 'the first container to go')
    const containers = await containersOf(web)
    const { pid } = server
    await server.kill('SIGTERM')

    await expect(deployer('restore', backup)).rejects.toMatchObject({
      stderr: expect.stringContaining('--force'),
    })
    expect(await deployer('restore', backup, '--dry-run')).toContain('is sound')
    await deployer('restore', backup, '--force')
    expect(await page('web')).toBe('second')
    await server.restart()
    expect(server.pid).not.toBe(pid)

    // It has looked at the engine by now.
    await waitFor(async () => (await page('web')) === 'second', 'the routes to what runs')
    expect(await page('site')).toBe('a page')
    expect((await server.api('GET', '/server/restore')).body).toEqual({
      ...{ status: 'fenced', waiting: null, steps: [] },
    })
    for (const [method, path, body] of [
      ['POST', '/services/web/deploys', {}],
      ['POST', '/services/web/restart', undefined],
      ['POST', '/services/web/jobs', { command: 'true' }],
      ['DELETE', '/services/web', undefined],
      ['POST', '/datastores', { kind: 'keyvalue', name: 'new' }],
      ['POST', '/server/backups', {}],
    ] as const) {
      const answer = await server.api(method, path, body)
      expect([path, answer.status]).toEqual([path, 409])
      expect(answer.body.error.message).toContain('deployer restore --confirm')
    }
    expect((await server.api('PATCH', '/services/web', { memory_limit_mb: 128 })).status).toBe(200)
    expect(await containersOf(web)).toEqual(containers)

    // A server that is started between that and its first look still finds out what is missing before it goes to work.
    await server.kill('SIGTERM')
    await deployer('restore', '--confirm')
    await server.restart()
    await waitFor(() => server.logs.includes('the restore was confirmed: going to work'), 'the work')
    const { steps } = await finished()
    expect(steps).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'cache', action: 'adopt', status: 'done' }),
        expect.objectContaining({ name: 'site', action: 'adopt', status: 'done' }),
        expect.objectContaining({ resource: 'unknown', name: containers[0], action: 'none' }),
      ]),
    )
    const { external_url } = await become(server, cache, 'available')
    expect(await keyvalue(external_url, (client) => client.get('at'))).toBe('later')
    expect(await page('web')).toBe('first')
    expect(readdirSync(folder).filter((name) => name.startsWith('data.before-restore-'))).toHaveLength(1)
  })

  it('where the engine has nothing brings back datastores, sites and programs by itself', async () => {
    await server.stop()
    const { server_id: id } = JSON.parse(await deployer('backup', 'verify', backup, '--json')) as {
      server_id: string
    }
    writeFileSync(join(folder, 'id'), JSON.stringify({ id }))
    await sweepEngine(id)
    const tags = (await docker('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n')
    for (const tag of tags.filter((tag) => tag.includes(web))) await docker('rmi', '-f', tag)
    rmSync(dataDirectory(), { recursive: true })

    await deployer('restore', '--from-bucket', ...bucket.flags)
    server = await startServer({ engine: true, dataDirectory: dataDirectory(), flags })
    const browser = new Browser(server.url)
    await browser.signIn()
    expect(await page('site')).toBe('a page')
    expect((await server.api('POST', '/server/restore/confirm')).status).toBe(403)
    const { status, body } = await browser.send('POST', '/server/restore/confirm', {})
    expect([status, body]).toMatchObject([200, { status: 'running' }])
    const { steps } = await finished()
    expect(steps).toHaveLength(3)
    expect(steps).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'cache', action: 'restore', status: 'done', error: null }),
        expect.objectContaining({ name: 'web', action: 'deploy', status: 'done', error: null }),
        expect.objectContaining({ name: 'site', action: 'adopt', status: 'done', error: null }),
      ]),
    )
    const { external_url } = await become(server, cache, 'available')
    expect(await keyvalue(external_url, (client) => client.get('at'))).toBe('backed up')
    expect(await page('web')).toBe('first')
    const [deploy] = (await server.api('GET', '/services/web/deploys')).body as { trigger: string }[]
    expect(deploy).toMatchObject({ trigger: 'restore', status: 'live' })
    expect(await deployer('restore', '--status')).toMatch(/^done/)
  })
})
