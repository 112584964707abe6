import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { endOf, fetchFrom } from './live.ts'

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
})

afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

/** Serves the exact bytes that the kernel passed to the program as its environment. */
const SHOW_ENVIRONMENT =
  'mkdir -p /tmp/www && cat /proc/self/environ >/tmp/www/env && exec httpd -f -p $PORT -h /tmp/www'

/** What shells, JSON, dotenv files and engines are known to change on the way. */
const ODD_VALUES: Record<string, string> = {
  EMPTY: '',
  BLANKS: '  two  \t',
  NEWLINES: '\nfirst\r\nsecond\n\n',
  QUOTES: `'single' "double" \`ticks\` \\ \\n`,
  DOLLARS: '$HOME ${HOME} $(id) $$ $1 %PATH% !x',
  JSON: '{"a": [1, "\\u00e9", null], "b": {"c": "\\"${x}\\""}}',
  UTF8: 'é 日本語 💩 \u200f\ufeff e\u0301',
  CONTROL: '\u0001\u001b[31m\u007f',
  EQUALS: '=a=b&c=d#e;f',
  BRACES: '{{x}} $ {{x}} ${x}}',
  KEY: `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(200)}\n-----END PRIVATE KEY-----\n`,
  LARGE: `${'é"$\n{'.repeat(10_922)}end.`,
}

function listed(values: Record<string, string>, prefix = ''): { key: string; value: string }[] {
  return Object.entries(values).map(([key, value]) => ({ key: prefix + key, value }))
}

/** Creates a service from the small image and returns it once it is live. */
async function liveService(name: string, more: object): Promise<{ id: string }> {
  const service = { name, image: 'busybox:1', start_command: SHOW_ENVIRONMENT, ...more }
  const created = await server.api('POST', '/services', service)
  expect(created.status).toBe(201)
  await untilLive(created.body.latest_deploy.id)
  return created.body as { id: string }
}

async function untilLive(id: string): Promise<void> {
  expect(await endOf(server, id)).toMatchObject({ status: 'live', error: null })
}

async function deploysOf(name: string): Promise<{ id: string; trigger: string; status: string }[]> {
  return (await server.api('GET', `/services/${name}/deploys`)).body
}

/** The environment of the program that serves a host. */
async function environmentOf(name: string): Promise<Record<string, string>> {
  const { status, text } = await fetchFrom(server, `${name}.localhost`, '/env')
  expect(status).toBe(200)
  return Object.fromEntries(
    text.split('\0').map((entry) => [entry.split('=')[0]!, entry.slice(entry.indexOf('=') + 1)]),
  )
}

/** Waits until the newest deploy of a service has succeeded, and returns its trigger. */
async function newest(name: string): Promise<string> {
  const [deploy] = await deploysOf(name)
  await untilLive(deploy!.id)
  return deploy!.trigger
}

describe('a variable reaches the program byte for byte', () => {
  test('as its own, through a group and through a reference, up to 64 KiB', async () => {
    expect(Buffer.byteLength(ODD_VALUES.LARGE!)).toBe(64 * 1024)
    await server.api('POST', '/services', { name: 'source', env: listed(ODD_VALUES) })
    await server.api('POST', '/env-groups', { name: 'odd', vars: listed(ODD_VALUES, 'GROUP_') })
    const references = Object.fromEntries(
      Object.keys(ODD_VALUES).map((key) => [key, `\${{ service.source.env.${key} }}`]),
    )
    await liveService('odd', {
      env: [...listed(ODD_VALUES, 'OWN_'), ...listed(references, 'REFERENCE_')],
      env_groups: ['odd'],
    })
    const environment = await environmentOf('odd')
    const ways = Object.keys(ODD_VALUES).flatMap((key) =>
      ['OWN_', 'GROUP_', 'REFERENCE_'].map((prefix) => [prefix + key, ODD_VALUES[key]]),
    )
    for (const [key, value] of ways) expect([key, environment[key!]]).toEqual([key, value])
  })

  test('in a build as a secret, and as an argument only if the Dockerfile declares it', async () => {
    const secrets = Object.keys(ODD_VALUES).filter((key) => key !== 'EMPTY')
    const mounts = secrets.map((key) => `--mount=type=secret,id=GROUP_${key}`).join(' ')
    const repository = await createRepository({
      Dockerfile: [
        'FROM busybox:1',
        'ARG OWN',
        'ARG REFERENCE',
        `RUN ${mounts} mkdir /www && cp /run/secrets/GROUP_* /www/`,
        'RUN printf %s "$OWN" >/www/own && printf %s "$REFERENCE" >/www/reference',
        'RUN printf "%s" "$HIDDEN" >/www/hidden',
        'CMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]',
        '',
      ].join('\n'),
    })
    const created = await server.api('POST', '/services', {
      name: 'built',
      repo_url: remote.url(repository),
      env: listed({ OWN: ODD_VALUES.QUOTES!, REFERENCE: '${{service.source.env.JSON}}', HIDDEN: 'x' }),
      env_groups: ['odd'],
    })
    await untilLive(created.body.latest_deploy.id)
    const served = async (path: string) => (await fetchFrom(server, 'built.localhost', `/${path}`)).text
    for (const key of secrets) expect([key, await served(`GROUP_${key}`)]).toEqual([key, ODD_VALUES[key]])
    expect(await served('own')).toBe(ODD_VALUES.QUOTES)
    expect(await served('reference')).toBe(ODD_VALUES.JSON)
    expect(await served('hidden')).toBe('')
  })
})

describe('live services', () => {
  test('reach each other as a reference says, at the port that a group names', async () => {
    await server.api('POST', '/env-groups', { name: 'shared', vars: listed({ PORT: '4321', LEVEL: 'one' }) })
    await liveService('target', {
      type: 'private_service',
      env_groups: ['shared'],
    })
    expect((await server.api('GET', '/services/target')).body.internal_port).toBe(4_321)
    await liveService('caller', {
      env: listed({
        TARGET: 'http://${{service.target}}/env',
        OF_TARGET: '${{service.target.host}}',
        PORT: '${{service.target.port}}',
      }),
      start_command: `mkdir -p /tmp/www && wget -qO /tmp/www/got "$TARGET" && ${SHOW_ENVIRONMENT}`,
    })
    expect(await environmentOf('caller')).toMatchObject({
      TARGET: 'http://target:4321/env',
      OF_TARGET: 'target',
    })
    expect((await server.api('GET', '/services/caller')).body.internal_port).toBe(4_321)
    const got = await fetchFrom(server, 'caller.localhost', '/got')
    expect(got.text).toContain('DEPLOYER_SERVICE_NAME=target')
  })

  test('are restarted by a change of a group if it reaches them, and no others are', async () => {
    await liveService('linked', { env: listed({ LEVEL_2: 'x' }), env_groups: ['shared'] })
    await liveService('hiding', { env: listed({ LEVEL: 'own' }), env_groups: ['shared'] })
    const before = await Promise.all(['target', 'linked', 'hiding', 'caller'].map(deploysOf))
    const answer = await server.api('PATCH', '/env-groups/shared/env?restart=true', { set: { LEVEL: 'two' } })
    expect(answer.status).toBe(200)
    expect(await newest('linked')).toBe('restart')
    expect(await newest('target')).toBe('restart')
    const after = await Promise.all(['target', 'linked', 'hiding', 'caller'].map(deploysOf))
    expect(after.map((list, at) => list.length - before[at]!.length)).toEqual([1, 1, 0, 0])
    expect(await environmentOf('linked')).toMatchObject({ LEVEL: 'two', PORT: '4321' })
    expect(await environmentOf('hiding')).toMatchObject({ LEVEL: 'own' })
  })

  test('keep their variables after a change without restart, until their next one', async () => {
    await server.api('PATCH', '/env-groups/shared/env', { set: { LEVEL: 'three' } })
    expect(await environmentOf('linked')).toMatchObject({ LEVEL: 'two' })
    const restart = await server.api('POST', '/services/linked/restart')
    await untilLive(restart.body.id)
    expect(await environmentOf('linked')).toMatchObject({ LEVEL: 'three' })
  })

  test('fail their next deploy if what they refer to is gone, which names it, and keep serving', async () => {
    expect((await server.api('DELETE', '/services/target')).status).toBe(409)
    expect((await server.api('DELETE', '/services/target?force=true')).status).toBe(204)
    const restart = await server.api('POST', '/services/caller/restart')
    const ended = await endOf(server, restart.body.id)
    expect(ended.status).toBe('deploy_failed')
    expect(ended.error).toMatch(/TARGET of caller: .*production has no service target/)
    expect(await environmentOf('caller')).toMatchObject({ OF_TARGET: 'target' })
  })

  test('lose the variables of a group that is deleted by force, at once if requested', async () => {
    expect((await server.api('DELETE', '/env-groups/shared?restart=true')).status).toBe(409)
    expect((await server.api('DELETE', '/env-groups/shared?force=true&restart=true')).status).toBe(204)
    expect(await newest('linked')).toBe('restart')
    const environment = await environmentOf('linked')
    expect(environment).toMatchObject({ LEVEL_2: 'x', PORT: '10000' })
    expect(environment).not.toHaveProperty('LEVEL')
    expect((await server.api('GET', '/services/linked')).body).toMatchObject({
      env_groups: [],
      internal_port: 10_000,
    })
  })
})
