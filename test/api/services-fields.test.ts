import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
  await server.api('POST', '/services', { name: 'kept', image: 'busybox:1', deploy: false })
})
afterAll(() => server.stop())

const LONE_SURROGATE = '\ud800'

function twoDisks(...disks: [name: string, mount_path: string][]) {
  return disks.map(([name, mount_path]) => ({ name, mount_path }))
}

/** Values of each field that no service may have; a create and a patch refuse the same ones. */
const BAD: Record<string, unknown[]> = {
  name: [
    '',
    'A',
    'Upper',
    'a'.repeat(64),
    '-a',
    'a-',
    '1a',
    'a_b',
    'a.b',
    'a b',
    ' a',
    'a\n',
    'é',
    'srv-0123456789abcdef0123',
    'dep-0123456789abcdef0123',
    'xyz-0123456789abcdef0123',
    null,
    5,
    true,
    [],
    {},
  ],
  runtime: ['', 'cobol', 'AUTO', null, 1],
  repo_url: [
    '--upload-pack=x',
    '-x',
    'file:///etc',
    'FILE:///etc',
    '/srv/git/x.git',
    './x',
    '../x',
    'x.git',
    'host:path',
    'ext::sh -c id',
    'ssh://%2doProxyCommand=id/x',
    'git://host%0a/x',
    'https://git.example.com/%2e%2e/x',
    'ext::sh',
    'fd::3',
    'ftp://git.example.com/x.git',
    'javascript:alert(1)',
    'https://',
    'https://git.example.com',
    'https://git.example.com/',
    'https://-oProxyCommand=x/y',
    'ssh://-oProxyCommand=x/y',
    'ssh://-x@git.example.com/y.git',
    '-oProxyCommand=x@git.example.com:y.git',
    'git@-oProxyCommand=x:y.git',
    'git@git.example.com:-x',
    'https://git.example.com/x y.git',
    'https://git.example.com/x\ny.git',
    'https://git.example.com/x.git?ref=main',
    'https://git.example.com/x.git#main',
    'https://git.example.com:99999/x.git',
    'https://%zz@git.example.com/x.git',
    'ssh://git:secret@git.example.com/x.git',
    `https://git.example.com/${'x'.repeat(2_048)}`,
    `https://git.example.com/${LONE_SURROGATE}`,
    7,
    {},
  ],
  branch: [
    '--upload-pack=x',
    '-b',
    'a b',
    'a..b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.lock',
    'a.',
    'a@{b',
    '@',
    'HEAD',
    'a\nb',
    'a\u007fb',
    'a'.repeat(256),
    1,
  ],
  root_dir: ['/abs', '../x', 'a/../../b', '..', 'a\\b', 'a\nb', 'a\0b', '~root', 'x'.repeat(1_025), 1],
  dockerfile_path: ['/etc/passwd', '../Dockerfile', 'a/../../Dockerfile', 'a\0', 1],
  image: [
    'busybox:',
    ':1',
    'busybox:1:2',
    'busy box',
    'busybox:1\n',
    '-x',
    '--privileged',
    'https://registry.example.com/x',
    'busybox@sha256:123',
    'busybox@',
    'a//b',
    '../x',
    'library/UPPER',
    'busybox:.x',
    `busybox:${'t'.repeat(129)}`,
    'registry.example.com:port/x',
    'é',
    `b${'x'.repeat(512)}`,
    1,
  ],
  apt_packages: [
    'ffmpeg',
    [''],
    ['a'],
    ['-y'],
    ['Ffmpeg'],
    ['a b'],
    ['a;b'],
    ['a/b'],
    ['a'.repeat(129)],
    [1],
    null,
    Array.from({ length: 51 }, (_, index) => `lib${index}`),
  ],
  build_command: ['a\0b', 'x'.repeat(16 * 1024 + 1), LONE_SURROGATE, 1, []],
  start_command: ['a\0b', 'x'.repeat(16 * 1024 + 1), LONE_SURROGATE, 1, {}],
  health_check_path: [
    'healthz',
    'http://example.com/',
    '/a b',
    '/é',
    '/a\r\nX: y',
    '/#x',
    `/${'x'.repeat(1_024)}`,
    1,
  ],
  port: [0, -1, 65_536, 1.5, '80', '', true, []],
  instances: [-1, 33, 1.5, '1', null, true],
  memory_limit_mb: [-1, 1, 15, 1_048_577, 64.5, '512', null],
  cpu_limit: [-1, 0.001, 0.009, 512.01, '1', null],
  auto_deploy: ['true', 1, 0, null],
  compression: ['true', 1, 0, null],
  registry_credential: [1, true, [], 'x'.repeat(64), 'a\0b'],
  max_shutdown_delay_seconds: [0, 301, 1.5, '30', null],
  drain_seconds: [-1, 301, 1.5, '30', null],
  overlap_policy: ['', 'Wait', 'cancel', null, 1],
  disks: [
    null,
    {},
    ['/data'],
    [{ name: 'data' }],
    [{ mount_path: '/data' }],
    [{ name: 'Data', mount_path: '/data' }],
    [{ name: 'data', mount_path: 'data' }],
    [{ name: 'data', mount_path: '/etc' }],
    [{ name: 'data', mount_path: '/data', size: 1 }],
    twoDisks(['data', '/a'], ['data', '/b']),
    twoDisks(['one', '/a'], ['two', '/a/']),
    twoDisks(['one', '/a'], ['two', '/a/b']),
    Array.from({ length: 9 }, (_, index) => ({ name: `d${index}`, mount_path: `/d${index}` })),
  ],
  disk_backup_schedule: ['daily', '61 * * * *', 1],
  disk_backup_retention: [0, 1_001, 1.5, '7', null],
  ip_allow_list: [
    '203.0.113.7',
    ['203.0.113.7'],
    [{}],
    [{ source: '' }],
    [{ source: '203.0.113' }],
    [{ source: '203.0.113.7/33' }],
    [{ source: '2001:db8::/129' }],
    [{ source: '203.0.113.0/24/8' }],
    [{ source: '203.0.113.0/-1' }],
    [{ source: '203.0.113.0/024' }],
    [{ source: '203.0.113.0/' }],
    [{ source: 'fe80::1%eth0' }],
    [{ source: 'example.com' }],
    [{ source: '203.0.113.7', description: 1 }],
    [{ source: '203.0.113.7', extra: 1 }],
    Array.from({ length: 1_001 }, () => ({ source: '203.0.113.7' })),
  ],
  redirects: [
    {},
    [{}],
    [{ from: 'a', to: '/b' }],
    [{ from: '/a b', to: '/b' }],
    [{ from: '/a?x', to: '/b' }],
    [{ from: '/*/a', to: '/b' }],
    [{ from: '/%zz', to: '/b' }],
    [{ from: '/a\\b', to: '/b' }],
    [{ from: '/a', to: 'b' }],
    [{ from: '/a', to: '//evil.example' }],
    [{ from: '/a', to: 'javascript:alert(1)' }],
    [{ from: '/a', to: 'https://' }],
    [{ from: '/a', to: '/b\r\nX: y' }],
    [{ from: '/a', to: '/b c' }],
    [{ from: '/a', to: '/:splat' }],
    [{ from: '/a', to: '/b', status: 200 }],
    [{ from: '/a', to: '/b', status: 304 }],
    [{ from: '/a', to: '/b', force: true }],
    [{ from: '/a', to: '/a' }],
    [
      { from: '/a', to: '/b' },
      { from: '/b', to: '/a' },
    ],
    Array.from({ length: 101 }, (_, index) => ({ from: `/${index}`, to: '/to' })),
  ],
  maintenance: [
    true,
    {},
    { enabled: 'yes' },
    { enabled: true, message: 1 },
    { enabled: true, retry_after_seconds: 0 },
    { enabled: true, allow_ips: ['nobody'] },
    { enabled: true, page: 'x'.repeat(64 * 1024 + 1) },
    { enabled: true, page: 'é'.repeat(32 * 1024 + 1) },
  ],
  rate_limit: [
    10,
    {},
    { requests: 0 },
    { requests: 1.5 },
    { requests: 10, period_seconds: 0 },
    { requests: 10, period_seconds: 86_401 },
    { requests: 10, burst: 0 },
  ],
  basic_auth: [
    {},
    { users: [] },
    { users: [{ username: '', password: 'x' }] },
    { users: [{ username: 'a:b', password: 'x' }] },
    { users: [{ username: 'a\nb', password: 'x' }] },
    { users: [{ username: 'ada', password: '' }] },
    { users: [{ username: 'ada', password: 'a\nb' }] },
    { users: [{ username: 'ada', password: 1 }] },
    { users: [{ username: 'ada', password: 'x'.repeat(1_025) }] },
    { users: [{ username: 'ada', password: null }] },
    { users: [{ username: 'ada' }] },
    { users: [{ username: 'ada', hash: '$scrypt$' }] },
    {
      users: [
        { username: 'ada', password: 'x' },
        { username: 'ada', password: 'y' },
      ],
    },
    { users: [{ username: 'ada', password: 'x' }], except_paths: ['webhooks'] },
    { users: [{ username: 'ada', password: 'x' }], except_paths: ['/a/../b'] },
    { users: [{ username: 'ada', password: 'x' }], except_paths: ['/a//b'] },
    { users: [{ username: 'ada', password: 'x' }], except_paths: ['/%2e%2e/b'] },
    { users: [{ username: 'ada', password: 'x' }], except_paths: ['/a%2fb'] },
    { users: [{ username: 'ada', password: 'x' }], except_paths: ['/%61'] },
    { users: Array.from({ length: 21 }, (_, index) => ({ username: `u${index}`, password: 'x' })) },
  ],
  headers: [
    {},
    [{ name: 'X-A' }],
    [{ name: 'X A', value: 'b' }],
    [{ name: 'X-A', value: 'b\r\nX-B: c' }],
    [{ name: 'X-A\n', value: 'b' }],
    [{ name: 'X-A', value: '' }],
    [{ name: 'X-A', value: 'é' }],
    [{ name: 'X-A', value: 'b', path: 'a' }],
    ...['Connection', 'keep-alive', 'TE', 'Trailer', 'Upgrade', 'Proxy-Authenticate'].map((name) => [
      { name, value: null },
    ]),
    ...['Set-Cookie', 'content-length', 'Transfer-Encoding'].map((name) => [{ name, value: 'x' }]),
    Array.from({ length: 3 }, () => ({ name: 'X-A', value: 'x'.repeat(8_000) })),
    Array.from({ length: 51 }, (_, index) => ({ name: `X-${index}`, value: 'x' })),
  ],
  session_affinity: ['true', 1, null],
  upstream_timeout_seconds: [0, 3_601, 1.5, '60'],
  max_body_mb: [0, 10_241, 1.5, '60'],
  access_log: ['true', 1, null],
  env_groups: [null, 'shared', {}, [''], [1], [null], [['shared']]],
  env: [
    {},
    null,
    'A=1',
    ['A=1'],
    [{ key: 'A' }],
    [{ value: '1' }],
    [{ key: 'A', value: 1 }],
    [{ key: 'A', value: null }],
    [{ key: 'A', value: '1', extra: true }],
    [{ key: '1A', value: '' }],
    [{ key: '', value: '' }],
    [{ key: 'A B', value: '' }],
    [{ key: 'A=B', value: '' }],
    [{ key: 'é', value: '' }],
    [{ key: 'DEPLOYER_X', value: '' }],
    [{ key: 'A'.repeat(257), value: '' }],
    [{ key: 'A', value: 'a\0b' }],
    [{ key: 'A', value: LONE_SURROGATE }],
    [{ key: 'A', value: 'x'.repeat(64 * 1024 + 1) }],
    [{ key: 'A', value: 'é'.repeat(32 * 1024 + 1) }],
    [{ key: 'A', value: '${{service.other.host}}' }],
    [
      { key: 'A', value: '1' },
      { key: 'A', value: '2' },
    ],
    Array.from({ length: 1_001 }, (_, index) => ({ key: `A${index}`, value: '' })),
    Array.from({ length: 9 }, (_, index) => ({ key: `A${index}`, value: 'x'.repeat(60 * 1024) })),
  ],
}

/** What only a create accepts. */
const BAD_IN_CREATE: Record<string, unknown[]> = {
  type: ['', 'web', 'WEB_SERVICE', null, 1],
  deploy: ['false', 0, null],
}

const BAD_IN_PATCH: Record<string, unknown[]> = {
  suspended: ['true', 1, null],
  type: ['web_service'],
  environment: ['production'],
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text
}

/** The errors of an answer that must refuse `fields`, naming each. */
async function unlessRefused(
  method: string,
  path: string,
  body: Record<string, unknown>,
  fields: string[],
): Promise<string[]> {
  const { status, body: answer } = await server.api(method, path, body)
  const message = String(answer?.error?.message)
  const isNamed = fields.every((field) => new RegExp(`(^|; )${field}[.:]`).test(message))
  if (status === 400 && answer.error.code === 'invalid_request' && isNamed) return []
  const given = fields.map((field) => `${field}=${shortened(body[field])}`).join(' ')
  return [`${method} ${given}: ${status} ${JSON.stringify(answer).slice(0, 160)}`]
}

async function everything(): Promise<unknown> {
  return (await server.api('GET', '/services')).body
}

describe('a bad value of a service', () => {
  it.each(Object.entries({ ...BAD, ...BAD_IN_CREATE }))(
    'in %s is refused by a create, whose message begins with the field, and nothing is saved',
    async (field, values) => {
      const before = await everything()
      const faults: string[] = []
      for (const value of values) {
        const body = { name: 'fresh', deploy: false, [field]: value }
        faults.push(...(await unlessRefused('POST', '/services', body, [field])))
      }
      expect(faults).toEqual([])
      expect(await everything()).toEqual(before)
    },
  )

  it.each(Object.entries({ ...BAD, ...BAD_IN_PATCH }))(
    'in %s is refused by a patch, and the service stays as it was',
    async (field, values) => {
      const before = await everything()
      const faults: string[] = []
      for (const value of values) {
        faults.push(...(await unlessRefused('PATCH', '/services/kept', { [field]: value }, [field])))
      }
      expect(faults).toEqual([])
      expect(await everything()).toEqual(before)
    },
  )

  it('is named next to each other bad value of the same request', async () => {
    const before = await everything()
    // Lists of variables are checked as a whole after each field.
    const fields = Object.keys(BAD).filter((field) => field !== 'env')
    const faults: string[] = []
    for (const [index, first] of fields.entries()) {
      for (const second of fields.slice(index + 1)) {
        const body = { name: 'fresh', deploy: false, [first]: BAD[first]![0], [second]: BAD[second]!.at(-1) }
        faults.push(...(await unlessRefused('POST', '/services', body, [first, second])))
        const patch = { [first]: BAD[first]!.at(-1), [second]: BAD[second]![0] }
        faults.push(...(await unlessRefused('PATCH', '/services/kept', patch, [first, second])))
      }
    }
    expect(faults).toEqual([])
    expect(await everything()).toEqual(before)
  })

  it('is refused together with good values, which are not saved either', async () => {
    const before = await everything()
    const answer = await server.api('PATCH', '/services/kept', { branch: 'next', instances: 3, port: 0 })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(await everything()).toEqual(before)
  })
})

describe('values that do not fit together', () => {
  it.each([
    ['a repository and an image', { repo_url: 'https://git.example.com/x.git', image: 'busybox:1' }, 'image'],
    ['a port of a worker', { type: 'background_worker', port: 80 }, 'port'],
    [
      'a health check of a worker',
      { type: 'background_worker', health_check_path: '/' },
      'health_check_path',
    ],
    ['the runtime image without an image', { runtime: 'image' }, 'runtime'],
    ['an image with the runtime of a language', { runtime: 'node', image: 'busybox:1' }, 'runtime'],
    ['an image with a Dockerfile', { runtime: 'docker', image: 'busybox:1' }, 'runtime'],
  ])('are refused by a create and by a patch that would lead there: %s', async (_, fields, named) => {
    const { type, ...settings } = { type: 'web_service', ...fields }
    const message = expect.stringMatching(new RegExp(`^${named}: `)) as string
    const refused = { status: 400, body: { error: { code: 'invalid_request', message } } }
    expect(await server.api('POST', '/services', { name: 'pair', type, ...settings })).toMatchObject(refused)
    const created = await server.api('POST', '/services', { name: 'pair', type, deploy: false })
    expect(created.status).toBe(201)
    expect(await server.api('PATCH', '/services/pair', settings)).toMatchObject(refused)
    expect((await server.api('GET', '/services/pair')).body).toEqual(created.body)
    await server.api('PATCH', '/services/pair', { name: `used-${named.replaceAll('_', '-')}-${Date.now()}` })
  })

  it('a source changes its kind only if the other one is cleared in the same request', async () => {
    const repository = 'https://git.example.com/x.git'
    expect(await server.api('PATCH', '/services/kept', { repo_url: repository })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    const moved = await server.api('PATCH', '/services/kept', { repo_url: repository, image: '' })
    expect(moved).toMatchObject({ status: 200, body: { repo_url: repository, image: null } })
    const back = await server.api('PATCH', '/services/kept', { repo_url: null, image: 'busybox:1' })
    expect(back).toMatchObject({ status: 200, body: { repo_url: null, image: 'busybox:1' } })
  })
})

describe('a good value at the edge of what is allowed', () => {
  it.each([
    ['a'],
    ['a'.repeat(63)],
    ['a--b'],
    ['constructor'],
    ['null'],
    ['production'],
    ['srv-123'],
    ['srv-0123456789abcdef012g'],
  ])('is taken as a name and found by it: %s', async (name) => {
    expect(await server.api('POST', '/services', { name, deploy: false })).toMatchObject({
      status: 201,
      body: { name, hosts: [`${name}.localhost`], internal_host: name },
    })
    expect((await server.api('GET', `/services/${name}`)).body).toMatchObject({ name })
  })

  it.each([
    { repo_url: 'git@git.example.com:team/x.git', image: '' },
    { repo_url: 'ssh://git@git.example.com:2222/team/x.git', image: '' },
    { repo_url: 'git://127.0.0.1/x.git', image: '' },
    { repo_url: 'http://[::1]:8080/x.git', image: '' },
    { branch: 'feature/ünïcode' },
    { root_dir: 'a/b' },
    { image: 'localhost:5000/a/b_c/d__e/f-g:1.0@sha256:'.concat('a'.repeat(64)), repo_url: '' },
    { health_check_path: '/h?full=1&x=%20' },
    { port: 65_535 },
    { port: null },
    { memory_limit_mb: 16 },
    { memory_limit_mb: 1_048_576 },
    { memory_limit_mb: 0 },
    { cpu_limit: 0.01 },
    { cpu_limit: 512 },
    { start_command: `x${'é'.repeat(16 * 1024 - 1)}` },
    { auto_deploy: false },
    { compression: true },
    { max_shutdown_delay_seconds: 300, drain_seconds: 0, overlap_policy: 'override' },
    { max_shutdown_delay_seconds: 1, drain_seconds: 300 },
    { disk_backup_schedule: '0 3 * * *', disk_backup_retention: 1_000 },
    {
      ip_allow_list: ['203.0.113.7/24', '::ffff:198.51.100.0/120', '::/0'].map((source) => ({
        source,
        description: null,
      })),
    },
    { ip_allow_list: [] },
    { ip_allow_list: null },
    {
      redirects: [
        { from: '/blog/:year/*', to: 'https://blog.example.com/:year/:splat?from=here', status: 301 },
        { from: '/old', to: '/new#part', status: 303 },
      ],
    },
    { rate_limit: { requests: 1_000_000, period_seconds: 86_400, burst: 1 } },
    { headers: [{ path: '/assets/*', name: 'Cache-Control', value: null }] },
    { session_affinity: true, access_log: true },
    { upstream_timeout_seconds: 3_600, max_body_mb: 10_240 },
    { upstream_timeout_seconds: null, max_body_mb: null },
    { disks: twoDisks(['one', '/a'], ['two', '/ab']), disk_mount_path: '/a' },
    { disks: [] },
  ])('is kept as it was given: %j', async (patch) => {
    const answer = await server.api('PATCH', '/services/kept', patch)
    const kept = Object.entries(patch).map(([field, value]) => [field, value === '' ? null : value])
    expect(answer).toMatchObject({ status: 200, body: Object.fromEntries(kept) as object })
  })

  it('is the path of the first disk, which alone changes with it, and goes with null', async () => {
    const patched = async (patch: object) => {
      const { status, body } = await server.api('PATCH', '/services/kept', patch)
      return status === 200 ? [body.disk_mount_path, body.disks] : body.error.message
    }
    expect(await patched({ disk_mount_path: '/data/' })).toEqual(['/data', twoDisks(['data', '/data'])])
    await patched({ disks: twoDisks(['one', '/a'], ['two', '/b//c/']) })
    expect(await patched({ disk_mount_path: '/x' })).toEqual(['/x', twoDisks(['one', '/x'], ['two', '/b/c'])])
    expect(await patched({ disk_mount_path: '/b' })).toMatch(/^disk_mount_path: two and one must be/)
    expect(await patched({ disk_mount_path: '/y', disks: twoDisks(['one', '/x']) })).toMatch(
      /^disk_mount_path: must be the mount_path of the first/,
    )
    expect(await patched({ disk_mount_path: null })).toEqual(['/b/c', twoDisks(['two', '/b/c'])])
    expect(await patched({ instances: 2 })).toMatch(/^instances: /)
    expect(await patched({ disks: [], instances: 1 })).toEqual([null, []])
  })

  it('is rounded to hundredths as a CPU limit', async () => {
    expect((await server.api('PATCH', '/services/kept', { cpu_limit: 0.256 })).body.cpu_limit).toBe(0.26)
  })

  it('that is empty or blank clears an optional text', async () => {
    await server.api('PATCH', '/services/kept', { start_command: 'run', branch: 'x', root_dir: 'y' })
    const answer = await server.api('PATCH', '/services/kept', {
      start_command: '',
      branch: null,
      root_dir: ' ',
    })
    expect(answer.body).toMatchObject({ start_command: null, branch: null, root_dir: null })
  })
})

describe('a body that is not a good JSON object', () => {
  it.each([
    ['an array', '[]', /^body: /],
    ['a text', '"name"', /^body: /],
    ['a number', '5', /^body: /],
    ['null', 'null', /^body: /],
    ['cut short', '{"name": "x"', /JSON/],
    ['two objects', '{"name": "x"}{}', /JSON/],
    ['a form', 'name=x', /JSON/],
    ['only blanks', '  ', /JSON/],
    ['a comment', '{"name": "x" /* */}', /JSON/],
    ['not a number', '{"name": "x", "port": NaN}', /JSON/],
    ['a number beyond all', '{"name": "x", "port": 1e999}', /^port: /],
    ['a key twice', '{"name": "x", "name": "y"}', /^name: .*twice/],
    ['a key twice by an escape', '{"name": "x", "n\\u0061me": "y"}', /^name: .*twice/],
    [
      'a key twice inside',
      '{"name": "x", "env": [{"key": "A", "key": "B", "value": ""}]}',
      /^(env\.0\.)?key: .*twice/,
    ],
    ['__proto__', '{"name": "x", "__proto__": {"port": 1}}', /^__proto__: unknown field/],
    ['an escaped __proto__', '{"name": "x", "\\u005f_proto__": 1}', /^__proto__: unknown field/],
    ['constructor', '{"name": "x", "constructor": 1}', /^constructor: unknown field/],
    ['toString', '{"name": "x", "toString": 1}', /^toString: unknown field/],
    ['an empty key', '{"name": "x", "": 1}', /^"": unknown field/],
    ['an unknown field', '{"name": "x", "Port": 80}', /^Port: unknown field/],
    ['an id of its own', '{"name": "x", "id": "srv-0123456789abcdef0123"}', /^id: unknown field/],
    [
      'an unknown field inside',
      '{"name": "x", "env": [{"key": "A", "value": "", "secret": true}]}',
      /^env\./,
    ],
    ['half of a character', '{"name": "x", "start_command": "\\ud83d"}', /^start_command: .*surrogate/],
    [
      'half of a surrogate pair inside',
      '{"name": "x", "env": [{"key": "A", "value": "\\uDC00"}]}',
      /^env\.0\.value: .*surrogate/,
    ],
    [
      'half of a surrogate pair deep inside',
      `{"name":${'["\\ud83d\\ude00",'.repeat(50_000)}"\\ud83d"${']'.repeat(50_000)}}`,
      /surrogate/,
    ],
    ['nothing but depth', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, /./],
    ['depth under a field', `{"name":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`, /./],
  ])('is refused: %s', async (_, body, message) => {
    const answer = await server.api('POST', '/services', body)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
    expect(answer.body.error.message.length).toBeLessThan(2_000)
  })

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a cut sequence', [0xe2, 0x82]],
  ])('is refused as invalid UTF-8: %s', async (_, bytes) => {
    const body = Buffer.concat([Buffer.from('{"name": "x'), Buffer.from(bytes), Buffer.from('"}')])
    const answer = await server.api('POST', '/services', body)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/UTF-8/)
  })

  it('is refused wherever it contains half of a surrogate pair, which would be stored as something else', async () => {
    const repo_url = 'https://git.example.com/a.git'
    for (const [path, body] of [
      ['/blueprints', { name: 'half', repo_url, path: 'a\ud800' }],
      ['/blueprints', { name: 'half', repo_url, branch: 'a\ud800' }],
      ['/git/callback', { state: '\udc00', code: 'x' }],
      ['/auth/setup', { code: 'x', email: 'a\ud800@example.com', password: '12345678' }],
    ] as const) {
      const answer = await server.api('POST', path, body)
      expect([path, answer]).toMatchObject([path, refusal(400, 'invalid_request')])
    }
    const whole = { name: 'whole', repo_url, path: 'a😀', auto_sync: false }
    expect((await server.api('POST', '/blueprints', whole)).body.path).toBe('a😀')
  })

  it('is refused in UTF-16', async () => {
    const body = Buffer.from('\ufeff{"name": "x"}', 'utf16le')
    expect(await server.api('POST', '/services', body)).toMatchObject(refusal(400, 'invalid_request'))
  })

  it('needs no Content-Type, and any is accepted', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x']) {
      const answer = await server.api('PATCH', '/services/kept', '{"auto_deploy": true}', {
        headers: { 'content-type': type },
      })
      expect([type, answer.status]).toEqual([type, 200])
    }
  })

  it('may be empty where every field is optional', async () => {
    expect((await server.api('PATCH', '/services/kept', '')).status).toBe(200)
    expect((await server.api('POST', '/services', '')).body.error.message).toMatch(/^name: is required/)
  })

  it('leaves the server without a trace of what was refused', async () => {
    expect((await server.api('GET', '/services/x')).status).toBe(404)
    expect((await server.api('GET', '/services/fresh')).status).toBe(404)
    expect(server.logs).not.toMatch(/ error /)
  })
})
