import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { withCurrentKeys } from '#server/options/bucket.ts'
import { exposedSecrets } from '#server/options/flags.ts'
import { readOptions } from '#server/options/index.ts'

/** The options of these flags and variables, in a data directory of any name. */
function read(flags: string[], environment: NodeJS.ProcessEnv = {}) {
  return readOptions(['--data-dir', '/tmp/any', ...flags], environment)
}

test('a flag wins over its variable, and an empty variable does not count', () => {
  const environment = { DEPLOYER_HSTS: '60', DEPLOYER_MAX_CONNECTIONS_PER_IP: '' }
  expect(read([], environment)).toMatchObject({ hstsSeconds: 60, maxConnectionsPerIp: 2_000 })
  expect(read(['--hsts', '90'], environment).hstsSeconds).toBe(90)
})

test('a data directory without a name is refused as a flag, and does not count as a variable', () => {
  expect(() => readOptions(['--data-dir='], {})).toThrow(
    '--data-dir (DEPLOYER_DATA_DIR) must be a directory, not ""',
  )
  const usual = readOptions([], {}).dataDirectory
  expect(readOptions([], { DEPLOYER_DATA_DIR: '' }).dataDirectory).toBe(usual)
})

test('no Strict-Transport-Security is sent unless requested', () => {
  expect(read([]).hstsSeconds).toBe(0)
  expect(read(['--hsts', 'off']).hstsSeconds).toBe(0)
  expect(read(['--hsts', '31536000']).hstsSeconds).toBe(31_536_000)
})

test('HTTP and HTTPS cannot have the same address, unless there is no HTTPS', () => {
  const flags = ['--http-listen', '127.0.0.1:8443', '--https-listen', '127.0.0.1:8443']
  expect(() => read(flags)).toThrow(/^--https-listen .* must be another address than that of --http-listen/)
  expect(() => read(['--http-listen', '[::]:443'])).toThrow('must be another address')
  expect(read([...flags, '--tls', 'off']).httpListen.port).toBe(8443)
})

test.each([
  ['ftp://secret.example.com/path', 'must be a URL such as'],
  ['https://[secret', 'must be a URL such as'],
  ['http://169.254.169.254/secret', '169.254.169.254 is a link-local'],
])('a heartbeat is not sent to %s, which no message repeats', (url, message) => {
  const refusal = () => read([], { DEPLOYER_HEARTBEAT_URL: url })
  expect(refusal).toThrow(message)
  expect(refusal).not.toThrow('secret')
})

test('a server has a name of one line', () => {
  expect(read(['--server-name', 'prod 1']).serverName).toBe('prod 1')
  for (const name of ['a\nb', ' a', 'a\u2028b', 'x'.repeat(65)])
    expect(() => read(['--server-name', name])).toThrow('--server-name (DEPLOYER_SERVER_NAME) must be a name')
})

describe('what the data plane would not accept is refused by the name of its flag', () => {
  test.each([
    [['--hsts', 'yes'], '--hsts (DEPLOYER_HSTS) must be a number, at least 0, not "yes"'],
    [['--hsts', '1.5'], '--hsts (DEPLOYER_HSTS) must be a whole number, not "1.5"'],
    [
      ['--hsts', '3153600001'],
      '--hsts (DEPLOYER_HSTS) must be a number, at most 3153600000, not "3153600001"',
    ],
    [
      ['--max-connections-per-ip', '1000001'],
      '--max-connections-per-ip (DEPLOYER_MAX_CONNECTIONS_PER_IP) must be a number, at most 1000000, not "1000001"',
    ],
    [
      ['--upstream-timeout', '25h'],
      '--upstream-timeout (DEPLOYER_UPSTREAM_TIMEOUT) must be a duration such as 90s, 30m or 1h, at most a day, not "25h"',
    ],
  ])('%j', (flags, message) => {
    expect(() => read(flags)).toThrow(message)
  })
})

/** A file with this content. */
function fileOf(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'options-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'secret')
  writeFileSync(path, content)
  return path
}

describe.each([
  ['api-token', 'apiToken', 'DEPLOYER_API_TOKEN', 'a-token-of-my-own-choice'],
  ['webhook-secret', 'webhookSecret', 'DEPLOYER_WEBHOOK_SECRET', 'a secret with words'],
] as const)('the secret of --%s', (flag, option, variable, secret) => {
  const file = `--${flag}-file`

  test('is read from a file, which a flag or a variable names, in preference to the value itself', () => {
    const path = fileOf(`${secret}\n`)
    expect(read([file, path])[option]).toBe(secret)
    expect(read([], { [`${variable}_FILE`]: path })[option]).toBe(secret)
    expect(read([`--${flag}`, 'another one that is long'], { [`${variable}_FILE`]: path })[option]).toBe(
      secret,
    )
    expect(read([], { [variable]: secret, [`${variable}_FILE`]: '' })[option]).toBe(secret)
    expect(read([])[option]).toBeNull()
  })

  test('is refused if it is short, has several lines or does not exist, without being repeated', () => {
    for (const given of [
      '15 characters..',
      'x'.repeat(257),
      `${secret}\n${secret}`,
      'bell\u0007'.repeat(8),
    ]) {
      for (const flags of [
        [`--${flag}`, given],
        [file, fileOf(given)],
      ]) {
        const attempt = () => read(flags)
        expect(attempt).toThrow(new RegExp(`^${flags[0]} \\(DEPLOYER_.*\\) must (be|contain) 16 to 256 `))
        expect(attempt).not.toThrow(given)
      }
    }
    expect(() => read([file, fileOf('')])).toThrow(`${file} (${variable}_FILE) must contain 16`)
    expect(() => read([file, '/nonexistent/secret'])).toThrow(/cannot be read: ENOENT.*\/nonexistent\/secret/)
  })

  test('causes a warning only on the command line, where everyone can read it', () => {
    expect(exposedSecrets([`--${flag}`, secret])).toEqual([
      expect.stringMatching(new RegExp(`^every user of this host can read --${flag} .* use ${file}`)),
    ])
    expect(exposedSecrets([file, '/run/secret'])).toEqual([])
    expect(exposedSecrets([])).toEqual([])
  })
})

describe('the bucket of backups', () => {
  const bucket = (url: string, ...more: string[]) =>
    read(['--backup-s3-url', url, '--backup-s3-key', 'AK', '--backup-s3-secret', 'hush', ...more])
      .backupBucket

  test('is null without its flags, and consists of its address, keys and region', () => {
    expect(read([]).backupBucket).toBeNull()
    expect(bucket('https://s3.example.com/backups/of/mine/')).toEqual({
      url: 'https://s3.example.com/backups/of/mine',
      accessKeyId: 'AK',
      secretAccessKey: 'hush',
      region: null,
    })
    expect(bucket('http://127.0.0.1:9000/b', '--backup-s3-region', 'eu-central-1')?.region).toBe(
      'eu-central-1',
    )
  })

  test('has its secret in a file, and causes a warning on the command line', () => {
    const file = fileOf('of-a-file\n')
    const url = ['--backup-s3-url', 'https://s3.example.com/b', '--backup-s3-key', 'AK']
    expect(read([...url, '--backup-s3-secret-file', file]).backupBucket?.secretAccessKey).toBe('of-a-file')
    expect(exposedSecrets(['--backup-s3-secret', 'hush'])[0]).toContain('--backup-s3-secret-file')
  })

  test('reads its keys again if they are in files', () => {
    const [key, secret] = [fileOf('AK'), fileOf('hush')]
    const files = ['--backup-s3-key-file', key, '--backup-s3-secret-file', secret]
    const made = read(['--backup-s3-url', 'https://s3.example.com/b', ...files]).backupBucket!
    expect(made).toMatchObject({ accessKeyId: 'AK', secretAccessKey: 'hush' })
    expect(withCurrentKeys(made)).toBeNull()
    writeFileSync(key, 'AK2\n')
    expect(withCurrentKeys(made)).toEqual({ ...made, accessKeyId: 'AK2' })
    rmSync(secret)
    expect(() => withCurrentKeys(made)).toThrow(
      /refused the keys, and their files could not be read again: --backup-s3-secret-file .* cannot be read/,
    )
    expect(withCurrentKeys(bucket('https://s3.example.com/b')!)).toBeNull()
  })

  test.each([
    'https://s3.example.com',
    'https://s3.example.com/',
    'https://key:hush@s3.example.com/b',
    'https://s3.example.com/b?x=hush',
    'https://s3.example.com/b#hush',
    'https://s3.example.com/b//c',
    'https://s3.example.com/b%20c',
    's3://b/c',
    'b/c',
  ])('is refused at %s, without a secret being repeated', (url) => {
    expect(() => bucket(url)).toThrow(/^--backup-s3-url \(DEPLOYER_BACKUP_S3_URL\) must be such as /)
    expect(() => bucket(url)).not.toThrow('hush')
  })

  test('is refused if a part of it is missing', () => {
    expect(() => read(['--backup-s3-url', 'https://s3.example.com/b'])).toThrow('go together')
    expect(() => read(['--backup-s3-secret', 'hush'])).toThrow('go together')
    expect(() => read(['--backup-s3-secret', 'hush'])).not.toThrow('hush')
  })
})

describe('a bad flag is refused by its name', () => {
  test.each<[string[], string]>([
    [['extra'], 'extra'],
    [['--listen'], '--listen'],
    [['--listen', '127.0.0.1:65536'], '--listen'],
    [['--listen', '127.0.0.1:x'], '--listen'],
    [['--http-listen', ':80'], '--http-listen'],
    [['--log-level', 'loud'], '--log-level.*debug, info, warn, error'],
    [['--base-domain', 'a b'], '--base-domain'],
    [['--base-domain', '-x.example.com'], '--base-domain'],
    [['--base-domain', '192.0.2.1'], '--base-domain.*IP address'],
    [['--https-listen', '443'], '--https-listen'],
    [['--tls', 'on'], '--tls.*auto, off'],
    [['--public-ip', '192.0.2.1,192.0.2.2'], '--public-ip'],
    [['--public-http-port', '0'], '--public-http-port'],
    [['--dns-resolvers', 'ns.example.com'], '--dns-resolvers'],
    [['--acme-directory', 'http://ca.example.com/'], '--acme-directory'],
    [['--acme-email', 'nobody'], '--acme-email'],
    [['--acme-ca-file', '/nowhere.pem'], '--acme-ca-file'],
    [['--dashboard-host', 'a_b'], '--dashboard-host'],
    [['--api-token', 'short'], '--api-token'],
    [['--webhook-secret', '15 characters..'], '--webhook-secret'],
    [['--default-cpus', '0'], '--default-cpus'],
    [['--default-cpus', '-1'], '--default-cpus'],
    [['--default-memory-mb', '1.5'], '--default-memory-mb'],
    [['--build-concurrency', '0'], '--build-concurrency'],
    [['--build-timeout', '0'], '--build-timeout'],
    [['--build-timeout', 'soon'], '--build-timeout'],
    [['--proxy-workers', 'many'], '--proxy-workers'],
    [['--max-connections-per-ip', '-1'], '--max-connections-per-ip'],
    [['--trusted-proxies', 'garbage'], '--trusted-proxies'],
    [['--trusted-proxies', '10.0.0.0/33'], '--trusted-proxies'],
  ])('%j', (flags, named) => {
    expect(() => read(flags)).toThrow(new RegExp(`^[^\n]*${named}`))
  })
})
