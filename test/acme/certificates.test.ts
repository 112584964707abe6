import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { startPlace, type Place } from './place.ts'

let place: Place

beforeAll(async () => {
  place = await startPlace({ server: { flags: ['--dashboard-host', 'panel.example.com'] } })
})
afterAll(() => place?.stop())

function folder(host: string): string {
  return join(place.server.dataDirectory, 'certificates', host)
}

describe('a routed host', () => {
  test('gets a certificate within seconds, and is then served over HTTPS', async () => {
    await place.server.api('POST', '/services', { name: 'api' })
    const entry = await place.reaches('api.example.com', 'issued')
    expect(entry).toEqual({
      host: 'api.example.com',
      service: 'api',
      redirects_to: null,
      state: 'issued',
      expires_at: expect.stringMatching(/Z$/),
      error: null,
      retry_at: null,
      issuer: expect.stringContaining('Pebble'),
      source: 'acme',
      not_before: expect.stringMatching(/Z$/),
    })
    // Not deployed yet: the page is the data plane's.
    expect(await place.ask('api.example.com')).toMatchObject({ status: 503 })
    expect((await place.server.api('GET', '/services/api')).body.url).toBe('https://api.example.com')
    expect((await place.server.api('GET', '/info')).body).toMatchObject({
      tls_enabled: true,
      dashboard_url: 'https://panel.example.com',
    })
  })

  test('is redirected to HTTPS, except for the paths of proofs', async () => {
    const status = (path: string) =>
      new Promise<[number, string | undefined]>((resolve, reject) => {
        request({ host: place.ip, path, headers: { host: 'api.example.com' } }, (response) =>
          resolve([response.resume().statusCode!, response.headers.location]),
        )
          .on('error', reject)
          .end()
      })
    expect(await status('/x?y')).toEqual([308, 'https://api.example.com/x?y'])
    expect((await status('/.well-known/acme-challenge/unknown'))[0]).toBe(503)
    expect((await status('/.well-known/deployer/unknown'))[0]).toBe(503)
  })

  test('has its key in files that only their owner can read', async () => {
    const files = readdirSync(folder('api.example.com'))
    expect(files).toContain('fullchain.pem')
    expect(files).toContain('privkey.pem')
    for (const file of files) expect(statSync(join(folder('api.example.com'), file)).mode & 0o777).toBe(0o600)
    expect(statSync(folder('api.example.com')).mode & 0o777).toBe(0o700)
    expect(files.filter((file) => file.startsWith('next'))).toEqual([])
    const { stdout } = await promisify(execFile)('openssl', [
      ...['x509', '-noout', '-text', '-in', join(folder('api.example.com'), 'fullchain.pem')],
    ])
    expect(stdout).toContain('prime256v1')
    expect(stdout).toContain('DNS:api.example.com')
    expect(readFileSync(join(folder('api.example.com'), 'privkey.pem'), 'utf8')).toContain('PRIVATE KEY')
  })

  test("shows curl and openssl the authority's certificate", async () => {
    const chain = join(place.server.dataDirectory, 'root.pem')
    const { writeFileSync } = await import('node:fs')
    writeFileSync(chain, await place.authority.root())
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sS', '--cacert', chain, '--resolve', `api.example.com:443:${place.ip}`, '-o', '/dev/null'],
      ...['-w', '%{http_code} %{ssl_verify_result}', 'https://api.example.com/'],
    ])
    expect(stdout).toBe('503 0')
    const shown = promisify(execFile)('openssl', [
      ...['s_client', '-connect', `${place.ip}:443`, '-servername', 'api.example.com'],
      ...['-CAfile', chain, '-verify_return_error', '-brief'],
    ])
    shown.child.stdin!.end()
    expect((await shown).stderr).toContain('Verification: OK')
  })

  test('is also the dashboard, where the same API answers', async () => {
    const entry = await place.reaches('panel.example.com', 'issued')
    expect(entry.service).toBeNull()
    const { status, body } = await place.ask('panel.example.com', { path: '/api/v1/auth/status' })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ setup_required: true })
  })

  test('gets a certificate as a custom domain, in another environment, and no longer when it is removed', async () => {
    await place.server.api('POST', '/environments', { name: 'staging' })
    await place.server.api('POST', '/services', { name: 'web', environment: 'staging' })
    await place.server.api('POST', '/services/web/domains?environment=staging', {
      domain: 'www.shop.example',
    })
    expect((await place.reaches('www.shop.example', 'issued')).service).toBe('web.staging')
    await place.reaches('web.staging.example.com', 'issued')
    await place.server.api('DELETE', '/services/web/domains/www.shop.example?environment=staging')
    expect(await place.entry('www.shop.example')).toBeUndefined()
    await expect(place.shown('www.shop.example')).rejects.toThrow()
    // It comes back without another order.
    const version = readdirSync(folder('www.shop.example')).toSorted()
    await place.server.api('POST', '/services/web/domains?environment=staging', {
      domain: 'www.shop.example',
    })
    expect((await place.entry('www.shop.example')).state).toBe('issued')
    expect(readdirSync(folder('www.shop.example')).toSorted()).toEqual(version)
  })

  test('that is local gets no certificate', async () => {
    await place.server.api('POST', '/domains', { name: 'lab.test' })
    expect(await place.entry('api.lab.test')).toMatchObject({
      state: 'local',
      expires_at: null,
      source: null,
    })
    await place.server.api('DELETE', '/domains/lab.test')
  })

  test('that does not point here waits, says why, and costs no attempt', async () => {
    const orders = () => place.authority.log.split('/order-plz -> calling').length
    await place.names.setA('far.example.net', ['192.0.2.1'])
    await place.server.api('POST', '/services/api/domains', { domain: 'far.example.net' })
    const entry = await waitFor(async () => {
      const found = await place.entry('far.example.net')
      return found.error !== null && found
    }, 'the reason')
    const before = orders()
    expect(entry).toMatchObject({ state: 'pending', retry_at: expect.any(String) })
    expect(entry.error).toContain('192.0.2.1')
    await place.names.clearA('far.example.net')
    await place.reaches('far.example.net', 'issued')
    expect(before).toBeLessThan(orders())
    await place.server.api('DELETE', '/services/api/domains/far.example.net')
  })

  test('that is a custom domain under one that waits for its records gets one certificate', async () => {
    const host = 'shop.later.example'
    await place.names.setDefault(null)
    await place.names.setA(host, [place.ip])
    await place.server.api('POST', '/domains', { name: 'later.example' })
    await place.server.api('POST', '/services/api/domains', { domain: host })
    await place.reaches(host, 'issued')
    const shown = await place.shown(host)
    expect(shown.subjectaltname).toBe(`DNS:${host}`)
    // Nothing is ordered for names that nobody can find.
    expect(place.authority.log).not.toContain('api.later.example')
    await place.names.setDefault(place.ip)
    await place.server.api('POST', '/domains/later.example/verify')
    await place.reaches('api.later.example', 'issued')
    expect((await place.shown(host)).serialNumber).toBe(shown.serialNumber)
    await place.server.api('DELETE', '/domains/later.example')
    await place.server.api('DELETE', `/services/api/domains/${host}`)
  })
})
