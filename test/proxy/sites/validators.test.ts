import { randomBytes } from 'node:crypto'
import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ask, askRaw, H, publish, replyOf, serve, stand } from './site-stand.ts'

test('an unchanged file is 304 by its tag or its date, the tag first', async () => {
  await serve(publish({ 'a.js': 'a', 'large.bin': Buffer.alloc(100_000, 'x') }))
  for (const path of ['/a.js', '/large.bin']) {
    const { etag, 'last-modified': date } = (await ask(path)).fields as {
      etag: string
      'last-modified': string
    }
    const fresh = await ask(path, `If-None-Match: W/"other", ${etag}`)
    expect(fresh).toMatchObject({ status: 304, body: '', fields: { etag } })
    expect(fresh.fields).not.toHaveProperty('content-length')
    expect(await ask(path, `If-Modified-Since: ${date}`)).toMatchObject({ status: 304 })
    expect(await ask(path, 'If-None-Match: "other"', `If-Modified-Since: ${date}`)).toMatchObject({
      status: 200,
    })
    expect(await ask(path, 'If-Match: "other"')).toMatchObject({ status: 412, body: '' })
  }
})

test('the tag of a small file stays with its content across deploys; no tag stays when the content changes', async () => {
  const tags = async () => [
    (await ask('/same.js')).fields.etag,
    (await ask('/new.js')).fields.etag,
    (await ask('/large.bin')).fields.etag,
  ]
  await serve(publish({ 'same.js': 'same', 'new.js': '1', 'large.bin': Buffer.alloc(100_000, '1') }))
  const before = await tags()
  await serve(publish({ 'same.js': 'same', 'new.js': '2', 'large.bin': Buffer.alloc(100_000, '2') }))
  const after = await tags()
  expect(after[0]).toBe(before[0])
  expect(after[1]).not.toBe(before[1])
  expect(after[2]).not.toBe(before[2])
})

test('a file that is older than its deploy has the time of the deploy', async () => {
  const folder = publish({ 'a.js': 'a' })
  utimesSync(join(folder, 'files/a.js'), 1_000_000_000, 1_000_000_000)
  await serve(folder)
  const modified = Date.parse((await ask('/a.js')).fields['last-modified']!)
  expect(modified).toBe(Math.floor(statSync(folder).mtimeMs / 1000) * 1000)
})

test('one range is answered with its bytes, several with all, one beyond the end with 416', async () => {
  const large = randomBytes(300_000)
  await serve(publish({ 'digits.txt': '0123456789', 'large.bin': large }))
  expect(await ask('/digits.txt', 'Range: bytes=2-4')).toMatchObject({
    status: 206,
    body: '234',
    fields: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
  })
  expect(await ask('/digits.txt', 'Range: bytes=-2')).toMatchObject({ status: 206, body: '89' })
  expect(await ask('/digits.txt', 'Range: bytes=0-1,4-5')).toMatchObject({ status: 200, body: '0123456789' })
  expect(await ask('/digits.txt', 'Range: bytes=10-')).toMatchObject({
    status: 416,
    body: '',
    fields: { 'content-range': 'bytes */10' },
  })
  const { etag } = (await ask('/digits.txt')).fields
  expect(await ask('/digits.txt', 'Range: bytes=0-0', `If-Range: ${etag}`)).toMatchObject({ status: 206 })
  expect(await ask('/digits.txt', 'Range: bytes=0-0', 'If-Range: "x"')).toMatchObject({ status: 200 })
  expect(replyOf(await askRaw('HEAD /digits.txt HTTP/1.1', 'Range: bytes=0-0'))).toMatchObject({
    status: 200,
  })
  // From the disk, then from memory, where it is in pieces.
  for (let round = 0; round < 3; round++) {
    const { status, body } = await ask('/large.bin', 'Range: bytes=130000-270000')
    expect(status).toBe(206)
    expect(Buffer.from(body, 'latin1').equals(large.subarray(130_000, 270_001))).toBe(true)
    await sleep(60)
  }
})

test('a file that exists encoded next to the other is sent to clients that accept it', async () => {
  await serve(
    publish({
      'a.js': 'plain',
      'a.js.br': 'brotli',
      'a.js.gz': 'gzipped',
      'a.js.zst': 'zstandard',
      'b.js': 'b',
    }),
  )
  const of = async (accept: string) => {
    const { body, fields } = await ask('/a.js', `Accept-Encoding: ${accept}`)
    expect(fields).toMatchObject({
      vary: 'Accept-Encoding',
      'content-type': 'text/javascript; charset=utf-8',
    })
    return [body, fields['content-encoding'], fields.etag]
  }
  const plain = await of('identity')
  const brotli = await of('gzip, br')
  expect(plain.slice(0, 2)).toEqual(['plain', undefined])
  expect(brotli.slice(0, 2)).toEqual(['brotli', 'br'])
  expect(brotli[2]).not.toBe(plain[2])
  expect((await of('gzip, br;q=0.2')).slice(0, 2)).toEqual(['gzipped', 'gzip'])
  expect((await of('zstd, br;q=0')).slice(0, 2)).toEqual(['zstandard', 'zstd'])
  expect((await ask('/a.js')).body).toBe('plain')
  expect((await ask('/b.js', 'Accept-Encoding: br')).fields).not.toHaveProperty('vary')
  expect(await ask('/a.js', 'Accept-Encoding: br', `If-None-Match: ${brotli[2]}`)).toMatchObject({
    status: 304,
  })
  expect(await ask('/a.js', 'Accept-Encoding: gzip', `If-None-Match: ${brotli[2]}`)).toMatchObject({
    status: 200,
  })
})

test('content-hashed names may be cached forever, and those of a replaced folder are still found in time', async () => {
  const headers = [{ path: '/*', fields: [['X-Site', 'new'] as [string, string]] }]
  const rewrite = [{ from: '/*', to: '/index.html', status: 200 as const }]
  const hour = 3_600_000
  const old = publish({
    'index.html': 'old',
    'assets/index-B1cD3fGh.js': 'old asset',
    'plain.js': 'old plain',
  })
  const older = publish({ 'assets/index-D4eF5gHi.js': 'older asset', 'assets/index-B1cD3fGh.js': 'not this' })
  const expired = publish({ 'assets/index-J6kL7mNo.js': 'expired asset' })
  const current = publish(
    { 'index.html': 'new', 'assets/index-P8qR9sTu.js': 'new asset' },
    { redirects: rewrite, headers },
  )
  await serve(current, [
    { folder: old, until: Date.now() + hour },
    { folder: older, until: Date.now() + hour },
    { folder: expired, until: Date.now() - 1 },
  ])
  const immutable = 'public, max-age=31536000, immutable'
  expect(await ask('/assets/index-P8qR9sTu.js')).toMatchObject({
    body: 'new asset',
    fields: { 'cache-control': immutable, 'x-site': 'new' },
  })
  const kept = await ask('/assets/index-B1cD3fGh.js')
  expect(kept).toMatchObject({ status: 200, body: 'old asset', fields: { 'cache-control': immutable } })
  expect(kept.fields).not.toHaveProperty('x-site')
  expect(await ask('/assets/index-D4eF5gHi.js')).toMatchObject({ body: 'older asset' })
  expect(await ask('/assets/index-J6kL7mNo.js')).toMatchObject({ body: 'new' })
  expect(await ask('/plain.js')).toMatchObject({ body: 'new' })
})

test('an asset of a replaced folder is gone when its time is over', async () => {
  const old = publish({ 'index-B1cD3fGh.js': 'old asset' })
  const current = publish({ 'index.html': 'new' })
  const status = async () => (await ask('/index-B1cD3fGh.js')).status
  await serve(current, [{ folder: old, until: Date.now() + 3_600_000 }])
  expect(await status()).toBe(200)
  await serve(current, [{ folder: old, until: Date.now() + 1_500 }])
  await expect.poll(status).toBe(404)
})

test('a new table switches every file at once, also on connections that are open', async () => {
  await serve(publish({ 'index.html': 'one', 'only-old.txt': 'x' }))
  const client = stand.raw().request('GET / HTTP/1.1', H)
  await client.until('one')
  await serve(publish({ 'index.html': 'two' }))
  client.request('GET / HTTP/1.1', H)
  await client.until('two')
  client.request('GET /only-old.txt HTTP/1.1', H, 'Connection: close')
  expect(await client.end()).toMatch(/two[^]*HTTP\/1\.1 404 /)
})
