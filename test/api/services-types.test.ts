import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())

type Fields = Record<string, unknown>
const TYPES = ['web_service', 'private_service', 'background_worker', 'static_site', 'cron_job']

/** What each type needs, so that only one further field can be wrong. */
const NEEDS: Record<string, Fields> = { cron_job: { schedule: '0 3 * * *', start_command: 'true' } }

const WITHOUT_HOSTS = ['private_service', 'background_worker', 'cron_job']

/** Fields with a good value that are refused for these types. */
const FOREIGN: [field: string, value: unknown, types: string[]][] = [
  ['port', 3000, ['background_worker', 'static_site', 'cron_job']],
  ['health_check_path', '/healthz', ['background_worker', 'static_site', 'cron_job']],
  ['schedule', '0 3 * * *', ['web_service', 'private_service', 'background_worker', 'static_site']],
  ['compression', true, ['private_service', 'background_worker', 'static_site', 'cron_job']],
  ...(
    [
      ['ip_allow_list', []],
      ['redirects', [{ from: '/a', to: '/b' }]],
      ['maintenance', { enabled: false }],
      ['rate_limit', { requests: 10 }],
      ['basic_auth', { users: [{ username: 'ada', password: 'x' }] }],
      ['headers', [{ name: 'X-A', value: 'b' }]],
      ['access_log', true],
    ] as const
  ).map(([field, value]): [string, unknown, string[]] => [field, value, WITHOUT_HOSTS]),
  ...(['session_affinity', 'upstream_timeout_seconds', 'max_body_mb'] as const).map(
    (field): [string, unknown, string[]] => [
      field,
      field === 'session_affinity' ? true : 60,
      [...WITHOUT_HOSTS, 'static_site'],
    ],
  ),
  ['max_shutdown_delay_seconds', 60, ['static_site', 'cron_job']],
  ['drain_seconds', 0, ['private_service', 'background_worker', 'static_site', 'cron_job']],
  ['publish_dir', 'dist', ['web_service', 'private_service', 'background_worker', 'cron_job']],
  ['disks', [{ name: 'data', mount_path: '/data' }], ['static_site', 'cron_job']],
  ['disk_mount_path', '/data', ['static_site', 'cron_job']],
  ['disk_backup_schedule', '0 3 * * *', ['static_site', 'cron_job']],
  ['instances', 2, ['static_site', 'cron_job']],
  ['instances', 0, ['static_site', 'cron_job']],
  ['runtime', 'static', ['web_service', 'private_service', 'background_worker', 'cron_job']],
  ['pre_deploy_command', 'true', ['static_site']],
]

const MISFITS = FOREIGN.flatMap(([field, value, types]) => types.map((type) => ({ field, value, type })))

let count = 0
const freshName = (): string => `typed-${++count}`

async function names(): Promise<string[]> {
  const { body } = await server.api('GET', '/services')
  return (body as { name: string }[]).map(({ name }) => name)
}

async function create(fields: Fields): Promise<{ status: number; body: Fields & { id: string } }> {
  return server.api('POST', '/services', { name: freshName(), deploy: false, ...fields })
}

function refusal(field: string) {
  return {
    status: 400,
    body: { error: { code: 'invalid_request', message: expect.stringMatching(`^${field}: `) } },
  }
}

describe('a field that a type does not have', () => {
  it.each(MISFITS)(
    '$field $value of a $type is refused on create and nothing is created',
    async ({ field, value, type }) => {
      const before = await names()
      expect(await create({ type, ...NEEDS[type], [field]: value })).toMatchObject(refusal(field))
      expect(await names()).toEqual(before)
    },
  )

  it.each(MISFITS)(
    '$field $value of a $type is refused on patch and nothing changes',
    async ({ field, value, type }) => {
      const { body } = await create({ type, ...NEEDS[type] })
      const before = (await server.api('GET', `/services/${body.id}`)).body
      const patched = await server.api('PATCH', `/services/${body.id}`, {
        root_dir: 'changed',
        [field]: value,
      })
      expect(patched).toMatchObject(refusal(field))
      expect((await server.api('GET', `/services/${body.id}`)).body).toEqual(before)
    },
  )

  it('next to another one is refused by the name of one of them, whatever the pair', async () => {
    const before = await names()
    for (const type of TYPES) {
      const foreign = MISFITS.filter((misfit) => misfit.type === type)
      for (const left of foreign)
        for (const right of foreign) {
          if (left.field >= right.field) continue
          const answer = await create({
            type,
            ...NEEDS[type],
            [left.field]: left.value,
            [right.field]: right.value,
          })
          expect(answer.status).toBe(400)
          const error = answer.body.error as { code: string; message: string }
          expect(error.code).toBe('invalid_request')
          expect([left.field, right.field]).toContain(error.message.split(':')[0])
        }
    }
    expect(await names()).toEqual(before)
  })
})

describe('a cron job', () => {
  it('needs a schedule, and keeps it', async () => {
    expect(await create({ type: 'cron_job', start_command: 'true' })).toMatchObject(refusal('schedule'))
    const { body } = await create({ type: 'cron_job', ...NEEDS.cron_job })
    for (const nothing of [null, '', '  '])
      expect(await server.api('PATCH', `/services/${body.id}`, { schedule: nothing })).toMatchObject(
        refusal('schedule'),
      )
  })

  it.each(['node', 'python', 'go'])(
    'of the runtime %s needs its command, others bring one',
    async (runtime) => {
      expect(await create({ type: 'cron_job', schedule: '* * * * *', runtime })).toMatchObject(
        refusal('start_command'),
      )
      expect((await create({ type: 'cron_job', schedule: '* * * * *', runtime: 'docker' })).status).toBe(201)
    },
  )

  it.each([
    ['that never comes', '0 0 31 2 *', /never becomes due/],
    ['with six fields', '0 0 0 * * *', /five fields/],
    ['with a nickname that names no time', '@reboot', /five fields/],
    ['with a minute of 60', '60 * * * *', /has 60 as the minute/],
    ['with an hour of 24', '0 24 * * *', /has 24 as the hour/],
    ['with a month of 13', '0 0 1 13 *', /has 13 as the month/],
    ['with a day of 0', '0 0 0 1 *', /has 0 as the day of month/],
    ['with a step of 0', '*/0 * * * *', /the step/],
    ['with a range the wrong way round', '30-10 * * * *', /ends before it begins/],
    ['with the last day, which crontab has not', '0 0 L * *', /has "L" as the day of month/],
    ['with a question mark', '0 0 ? * *', /has "\?" as the day of month/],
    ['with words', 'every day at noon', /five fields/],
    ['with a line break', '0 0 * * *\n* * * * *', /five fields/],
    ['of a novel', '*'.repeat(300), /./],
  ])('cannot be created with a schedule %s', async (_what, schedule, message) => {
    const answer = await create({ type: 'cron_job', start_command: 'true', schedule })
    expect(answer).toMatchObject(refusal('schedule'))
    expect((answer.body.error as { message: string }).message).toMatch(message)
  })

  it.each([
    '@daily',
    '*/7 * * * *',
    '0 0 29 2 *',
    '0 0 1 * mon',
    '0,30 9-17 * JAN-MAR mon-fri',
    '0 12 * * 7',
    '5 4 1-31/2 * *',
  ])('can be created with the schedule %s', async (schedule) => {
    const answer = await create({ type: 'cron_job', start_command: 'true', schedule })
    expect(answer).toMatchObject({
      status: 201,
      body: { schedule, state: 'not_deployed', hosts: [], url: null },
    })
    expect(answer.body).toMatchObject({ internal_host: null, internal_port: null, instances: 1 })
  })

  it.each([0, 1, 2])('cannot be scaled to %i', async (instances) => {
    const { body } = await create({ type: 'cron_job', ...NEEDS.cron_job })
    expect(await server.api('POST', `/services/${body.id}/scale`, { instances })).toMatchObject(
      refusal('instances'),
    )
  })
})

describe('a disk', () => {
  it.each([
    '/',
    '//',
    '/./',
    '/proc',
    '/proc/self',
    '/sys',
    '/dev/shm',
    '/etc',
    '/etc/',
    '/usr',
    '/bin',
    '/lib',
    '/var/run',
    'data',
    './data',
    '/data/../etc',
    '/a:b',
    '/a,b',
    '/a\\b',
    '/a\nb',
  ])('cannot be mounted at %j', async (disk_mount_path) => {
    expect(await create({ disk_mount_path })).toMatchObject(refusal('disk_mount_path'))
  })

  it.each([
    ['/data', '/data'],
    ['/var/lib/app/', '/var/lib/app'],
    ['//data//x/./y', '/data/x/y'],
  ])('at %s is stored as %s', async (given, shown) => {
    expect(await create({ disk_mount_path: given })).toMatchObject({
      status: 201,
      body: { disk_mount_path: shown },
    })
  })

  it('works with one instance only, however the two come together', async () => {
    expect(await create({ disk_mount_path: '/data', instances: 2 })).toMatchObject(refusal('instances'))
    const beside = { root_dir: 'app', dockerfile_path: '../docker/Dockerfile' }
    expect(await create({ ...beside, dockerfile_path: '../../Dockerfile' })).toMatchObject(
      refusal('dockerfile_path'),
    )
    expect(await create(beside)).toMatchObject({ status: 201, body: beside })
    const wide = await create({ instances: 2 })
    expect(
      await server.api('PATCH', `/services/${wide.body.id}`, { disk_mount_path: '/data' }),
    ).toMatchObject(refusal('instances'))
    const disked = await create({ disk_mount_path: '/data' })
    for (const [method, path, body] of [
      ['POST', '/scale', { instances: 2 }],
      ['PATCH', '', { instances: 3 }],
    ] as const)
      expect(await server.api(method, `/services/${disked.body.id}${path}`, body)).toMatchObject(
        refusal('instances'),
      )
    const both = await server.api('PATCH', `/services/${wide.body.id}`, {
      disk_mount_path: '/data',
      instances: 1,
    })
    expect(both).toMatchObject({ status: 200, body: { disk_mount_path: '/data', instances: 1 } })
    expect((await server.api('POST', `/services/${disked.body.id}/scale`, { instances: 0 })).status).toBe(200)
  })
})

describe('the source of a service', () => {
  const REPOSITORY = 'https://git.example.com/team/app.git'

  it('is switched only if the other one is cleared in the same request', async () => {
    const { body } = await create({ repo_url: REPOSITORY })
    expect(await server.api('PATCH', `/services/${body.id}`, { image: 'app:1' })).toMatchObject(
      refusal('image'),
    )
    const switched = await server.api('PATCH', `/services/${body.id}`, { image: 'app:1', repo_url: '' })
    expect(switched).toMatchObject({ status: 200, body: { image: 'app:1', repo_url: null } })
    expect(await server.api('PATCH', `/services/${body.id}`, { repo_url: REPOSITORY })).toMatchObject(
      refusal('image'),
    )
  })

  it('is a repository or an image, never both', async () => {
    expect(await create({ repo_url: REPOSITORY, image: 'app:1' })).toMatchObject(refusal('image'))
  })
})

it.each(['srv-0123456789abcdef0123', 'evg-0123456789abcdef0123', 'env-0123456789abcdef0123'])(
  'the name %s, which looks like an id, is refused',
  async (name) => {
    expect(await server.api('POST', '/services', { name })).toMatchObject(refusal('name'))
  },
)

it('a static site that is not deployed says so and has its host', async () => {
  const { body } = await create({ type: 'static_site', publish_dir: 'dist' })
  expect(body).toMatchObject({
    state: 'not_deployed',
    hosts: [`${body.name as string}.localhost`],
    internal_host: null,
  })
})
