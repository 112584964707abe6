import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-certificates-'))
  server = await startServer()
  await makeAuthority()
})
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function openssl(...flags: string[]): Promise<void> {
  await promisify(execFile)('openssl', flags, { cwd: folder })
}

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** A root and a certificate below it that signs. */
async function makeAuthority(): Promise<void> {
  await openssl(
    'req',
    '-x509',
    ...EC,
    '-subj',
    '/CN=Root',
    '-days',
    '30',
    '-keyout',
    'root.key',
    '-out',
    'root.crt',
  )
  await signed(
    'middle',
    ['-subj', '/CN=Middle', '-addext', 'basicConstraints=critical,CA:TRUE'],
    'root',
    '30',
  )
}

async function signed(name: string, flags: string[], by: string, days: string): Promise<void> {
  await openssl('req', ...EC, ...flags, '-keyout', `${name}.key`, '-out', `${name}.csr`)
  const issue = ['x509', '-req', '-in', `${name}.csr`, '-CA', `${by}.crt`, '-CAkey', `${by}.key`]
  await openssl(
    ...issue,
    '-CAcreateserial',
    '-copy_extensions',
    'copyall',
    '-days',
    days,
    '-out',
    `${name}.crt`,
  )
}

/** A certificate that begins at the end of the century, which needs openssl's own authority. */
async function leafAhead(name: string): Promise<void> {
  const settings = 'database = index\nrand_serial = yes\ndefault_md = sha256\ncopy_extensions = copyall'
  writeFileSync(join(folder, 'index'), '')
  writeFileSync(
    join(folder, 'ca.cnf'),
    `[ca]\ndefault_ca = own\n[own]\nnew_certs_dir = .\npolicy = any\n${settings}\n[any]\ncommonName = supplied\n`,
  )
  await openssl(
    ...['ca', '-batch', '-config', 'ca.cnf', '-cert', 'middle.crt', '-keyfile', 'middle.key', '-notext'],
    ...['-in', `${name}.csr`, '-out', `${name}.crt`],
    ...['-startdate', '20990101000000Z', '-enddate', '20990201000000Z'],
  )
}

function leaf(name: string, names: string[], days = '20'): Promise<void> {
  const alternatives = names.map((host) => `DNS:${host}`).join(',')
  return signed(name, ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${alternatives}`], 'middle', days)
}

function upload(certificate: string, key: string) {
  return server.api('POST', '/certificates/uploaded', { certificate, private_key: key })
}

/** The common name of the certificate that a host shows; null when the handshake fails. */
async function shownAt(host: string): Promise<unknown> {
  const socket = connect({
    host: '127.0.0.1',
    port: server.httpsPort,
    servername: host,
    rejectUnauthorized: false,
  })
  const done = await Promise.race([
    once(socket, 'secureConnect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  const name = done ? socket.getPeerCertificate().subject.CN : null
  socket.destroy()
  return name
}

describe('an uploaded certificate', () => {
  test('serves the hosts that it names, including local ones, in whatever order its chain came', async () => {
    await leaf('site', ['site.localhost', '*.site.localhost'])
    await server.api('POST', '/services', { name: 'site' })
    expect((await server.api('GET', '/certificates')).body).toMatchObject([
      { host: 'site.localhost', service: 'site', state: 'local', source: null, expires_at: null },
    ])
    expect(await shownAt('site.localhost')).toBeNull()
    const { status, body } = await upload(
      read('root.crt') + read('site.crt') + read('middle.crt'),
      read('site.key'),
    )
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^crt-[0-9a-f]{20}$/),
        hosts: ['site.localhost', '*.site.localhost'],
        issuer: 'Middle',
        not_before: expect.stringMatching(/Z$/),
        expires_at: expect.stringMatching(/Z$/),
      },
    })
    expect(await shownAt('site.localhost')).toBe('site')
    expect((await server.api('GET', '/certificates')).body).toMatchObject([
      {
        host: 'site.localhost',
        state: 'issued',
        source: 'uploaded',
        issuer: 'Middle',
        expires_at: body.expires_at,
      },
    ])
    const files = join(server.dataDirectory, 'certificates', '_uploaded', body.id)
    expect(readFileSync(join(files, 'fullchain.pem'), 'utf8')).toBe(
      read('site.crt') + read('middle.crt') + read('root.crt'),
    )
    expect(statSync(join(files, 'privkey.pem')).mode & 0o777).toBe(0o600)

    expect((await server.api('GET', '/certificates/uploaded')).body).toEqual([body])
    expect((await server.api('DELETE', `/certificates/uploaded/${body.id}`)).status).toBe(204)
    expect(await shownAt('site.localhost')).toBeNull()
    expect(existsSync(files)).toBe(false)
    expect((await server.api('DELETE', `/certificates/uploaded/${body.id}`)).status).toBe(404)
  })

  test('covers one label with its wildcard, and the newest of two counts', async () => {
    await leaf('wild', ['*.localhost'])
    await leaf('newer', ['*.localhost'])
    await server.api('POST', '/environments', { name: 'deep' })
    await server.api('POST', '/services', { name: 'one' })
    await server.api('POST', '/services', { name: 'two', environment: 'deep' })
    const first = await upload(read('wild.crt') + read('middle.crt'), read('wild.key'))
    expect(await shownAt('one.localhost')).toBe('wild')
    expect(await shownAt('two.deep.localhost')).toBeNull()
    const second = await upload(read('newer.crt') + read('middle.crt'), read('newer.key'))
    expect(await shownAt('one.localhost')).toBe('newer')
    await server.api('DELETE', `/certificates/uploaded/${second.body.id}`)
    expect(await shownAt('one.localhost')).toBe('wild')
    await server.api('DELETE', `/certificates/uploaded/${first.body.id}`)
  })

  test('is refused with the reason when it cannot serve', async () => {
    await leaf('good', ['good.localhost'])
    await leaf('other', ['other.localhost'])
    await leaf('past', ['past.localhost'], '-1')
    await leaf('ahead', ['ahead.localhost'])
    await leafAhead('ahead')
    const refused = async (certificate: string, key: string, why: RegExp) =>
      expect(await upload(certificate, key)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', message: expect.stringMatching(why) } },
      })
    await refused(read('good.crt'), read('other.key'), /^private_key: does not belong to any/)
    await refused(read('good.crt') + read('other.crt'), read('good.key'), /^certificate: the chain is broken/)
    await refused(read('past.crt') + read('middle.crt'), read('past.key'), /^certificate: expired at/)
    await refused(
      read('ahead.crt') + read('middle.crt'),
      read('ahead.key'),
      /^certificate: is only valid from 2099/,
    )
    await refused('nothing', read('good.key'), /^certificate: contains no PEM certificate/)
    await refused(read('good.key'), read('good.key'), /^certificate: /)
    await refused(
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      read('good.key'),
      /^certificate: /,
    )
    await refused(read('good.crt'), 'nothing', /^private_key: /)
    await refused('', read('good.key'), /certificate/)
    expect((await server.api('GET', '/certificates/uploaded')).body).toEqual([])
  })

  test('is accepted with a warning if browsers do not support its key', async () => {
    const uploaded = async (key: string[]) => {
      const subject = ['-subj', '/CN=odd', '-addext', 'subjectAltName=DNS:odd.localhost']
      const files = ['-nodes', '-keyout', 'odd.key', '-out', 'odd.crt']
      await openssl('req', '-x509', ...key, ...subject, ...files)
      const { status, body } = await upload(read('odd.crt'), read('odd.key'))
      expect(status).toBe(201)
      expect((await server.api('GET', '/certificates/uploaded')).body).toEqual([body])
      await server.api('DELETE', `/certificates/uploaded/${body.id}`)
      return body.warning as unknown
    }
    expect(await uploaded(['-newkey', 'ed25519'])).toMatch(/Ed25519, which browsers refuse: upload one with/)
    expect(await uploaded(EC)).toBeNull()
  })

  test('is refused if it is only for clients, since browsers do not accept it from a server', async () => {
    const purposed = async (purpose: string) => {
      const subject = ['-subj', '/CN=purposed', '-addext', 'subjectAltName=DNS:purposed.localhost']
      const files = ['-keyout', 'purposed.key', '-out', 'purposed.crt']
      await openssl('req', '-x509', ...EC, ...subject, '-addext', `extendedKeyUsage=${purpose}`, ...files)
      return upload(read('purposed.crt'), read('purposed.key'))
    }
    expect(await purposed('clientAuth')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^certificate: .*not for servers/) as string } },
    })
    for (const purpose of ['serverAuth,clientAuth', 'anyExtendedKeyUsage']) {
      const { status, body } = await purposed(purpose)
      expect(status).toBe(201)
      await server.api('DELETE', `/certificates/uploaded/${body.id}`)
    }
  })

  test.each([
    ['is too short', ['-newkey', 'rsa:1024']],
    ['is on a curve that TLS does not have', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1']],
  ])('is refused if its key %s: browsers could not use it', async (_, flags) => {
    const subject = ['-subj', '/CN=weak', '-addext', 'subjectAltName=DNS:weak.localhost']
    await openssl('req', '-x509', ...flags, '-nodes', ...subject, '-keyout', 'weak.key', '-out', 'weak.crt')
    expect(await upload(read('weak.crt'), read('weak.key'))).toMatchObject({
      status: 400,
      body: {
        error: { message: expect.stringMatching(/^certificate: cannot be used for HTTPS/) as string },
      },
    })
  })
})
