import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startPrivateRegistry, type PrivateRegistry } from '../stand/registry.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { docker, endOf } from './live.ts'

const WORKER = { type: 'background_worker', start_command: 'sleep 1000' }

let server: TestServer
let registry: PrivateRegistry
let remote: GitRemote

beforeAll(async () => {
  registry = await startPrivateRegistry()
  await registry.push('busybox:1', 'team/app:1')
  await registry.push('busybox:1', 'other/app:1')
  server = await startServer({ engine: true })
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
  await forget()
  await registry?.close()
})

async function store(name: string, fields: object): Promise<void> {
  const { host, username, password } = registry
  const answer = await server.api('POST', '/registry-credentials', {
    name,
    host,
    username,
    password,
    ...fields,
  })
  expect(answer.status).toBe(201)
}

/** How the next deploy of a worker ends, and what its log says. The first one creates the service. */
async function deploy(
  name: string,
  fields: object,
): Promise<{ status: string; error: string | null; log: string }> {
  await forget()
  const made = await server.api('POST', '/services', { ...WORKER, ...fields, name })
  if (made.status !== 201) await server.api('PATCH', `/services/${name}`, fields)
  const deployed = made.body.latest_deploy ?? (await server.api('POST', `/services/${name}/deploys`)).body
  const { status, error } = await endOf(server, deployed.id)
  return { status, error, log: (await server.api('GET', `/deploys/${deployed.id}/logs`)).body }
}

/** Removes the images, because the engine's own would be used when the registry refuses. */
async function forget(): Promise<void> {
  for (const path of ['team', 'other'])
    await docker('rmi', '-f', `${registry.host}/${path}/app:1`).catch(() => {})
}

test('a private image is pulled with the credential that matches, or the one that the service names', async () => {
  const image = `${registry.host}/team/app:1`
  const without = await deploy('private', { image })
  expect(without).toMatchObject({
    status: 'deploy_failed',
    error: expect.stringMatching(/cannot be pulled: .*add or correct a registry credential/),
  })
  await store('wrong', { password: 'not it', path_prefix: 'team' })
  await store('whole', {})
  const wrong = await deploy('private', {})
  expect(wrong).toMatchObject({
    status: 'deploy_failed',
    error: expect.stringMatching(/cannot be pulled with the registry credential wrong: .*correct a registry/),
  })
  const named = await deploy('private', { registry_credential: 'whole' })
  expect(named).toMatchObject({ status: 'live', error: null })
  expect(named.log).toMatch(/with the registry credential whole/)
  await server.api('PATCH', '/registry-credentials/wrong', { password: registry.password })
  expect(await deploy('private', { registry_credential: null })).toMatchObject({
    status: 'live',
    log: expect.stringMatching(/with the registry credential wrong/),
  })
  const other = await deploy('other', { image: `${registry.host}/other/app:1` })
  expect(other).toMatchObject({ status: 'live', log: expect.stringMatching(/the registry credential whole/) })
  for (const { log, error } of [without, wrong, named, other])
    expect(`${log}${error}`).not.toMatch(/not it|pa ss/)
  const verified = await server.api('POST', '/registry-credentials/whole/verify')
  expect(verified.body).toEqual({ ok: true, error: null })
})

test('a private base image of a Dockerfile is pulled with the credential that matches its path', async () => {
  await store('base', { path_prefix: 'other', host: registry.host.toUpperCase() })
  await server.api('PATCH', '/registry-credentials/whole', { password: 'no more' })
  const Dockerfile = `FROM ${registry.host}/other/app:1\nLABEL made=${Math.random()}\n`
  const repo_url = remote.url(await createRepository({ Dockerfile }))
  const refused = await deploy('built', { repo_url, registry_credential: 'whole' })
  expect(refused).toMatchObject({
    status: 'build_failed',
    error: expect.stringMatching(/the base image \S+ cannot be pulled: .*correct a registry credential/),
    log: expect.stringMatching(/signing in at \S+ with the registry credential whole/),
  })
  expect(await deploy('built', { registry_credential: null })).toMatchObject({
    status: 'live',
    log: expect.stringMatching(/signing in at \S+ with the registry credential base/),
  })
  expect(readFileSync(`${server.dataDirectory}/deployer.db`).includes('no more')).toBe(false)
})
