import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { namedImages } from '#daemon/builds/stages.ts'
import { buildImage } from '#daemon/engine/build.ts'
import { Connection } from '#daemon/engine/connection.ts'
import { chooseCredential, openCredential } from '#server/registry-credentials/choice.ts'
import { createRegistryCredential } from '#server/registry-credentials/operations.ts'
import { findRegistryCredential } from '#server/registry-credentials/store.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
beforeAll(async () => {
  ;({ close } = await openContext())
  const login = { username: 'ci', password: 'secret' }
  for (const [name, host, path_prefix] of [
    ['hub', 'docker.io', null],
    ['acme', 'ghcr.io', 'acme'],
    ['shop', 'ghcr.io', 'acme/shop'],
    ['other', 'quay.io', null],
  ] as const)
    createRegistryCredential({ name, host, path_prefix, ...login })
})
afterAll(() => close())

test.each([
  ['the longest prefix of a path', 'ghcr.io', ['acme/shop/web'], null, 'shop'],
  ['a path that is the prefix itself', 'ghcr.io', ['acme/shop'], null, 'shop'],
  ['whole segments of a path alone', 'ghcr.io', ['acme/shopping'], null, 'acme'],
  ['no path that begins otherwise', 'ghcr.io', ['acme-tools/web'], null, null],
  ['the longest prefix of several paths', 'ghcr.io', ['acme/api', 'acme/shop/web'], null, 'shop'],
  ['the shortest prefix where no path is known', 'ghcr.io', [], null, 'acme'],
  ['the port of https, and any case', 'GHCR.io:443', ['acme/api'], null, 'acme'],
  ['each name of Docker Hub', 'index.docker.io', ['library/node'], null, 'hub'],
  ['no other port', 'ghcr.io:5000', ['acme/api'], null, null],
  ['the one that is named, whatever its prefix', 'ghcr.io', ['nobody/api'], 'shop', 'shop'],
  ['none for another host than its own, even if it is named', 'ghcr.io', ['nobody/api'], 'other', null],
  ['a matching one, if the one that is named is for another host', 'ghcr.io', ['acme/api'], 'other', 'acme'],
])('a credential is chosen by %s', (_, registry, paths, named, chosen) => {
  const id = named && findRegistryCredential(named).id
  expect(chooseCredential(registry, paths, id)?.name ?? null).toBe(chosen)
})

test('a password is sealed, and opened for its use', () => {
  const row = findRegistryCredential('hub')
  expect(Buffer.from(row.password).includes('secret')).toBe(false)
  expect(openCredential(row)).toEqual({ username: 'ci', password: 'secret' })
})

test('a Dockerfile names the images of its stages and those that files come from', () => {
  const dockerfile = [
    'ARG TAG=1',
    'FROM --platform=linux/amd64 ghcr.io/acme/base:1 AS Build',
    'FROM node:${TAG}',
    'COPY --from=build /a /a',
    'COPY --chown=1 --from=ghcr.io/acme/files:2 /a /a',
    'RUN --mount=type=bind,from=ghcr.io/acme/tools,target=/t true',
    'from busybox',
  ]
  expect(namedImages(dockerfile.join('\n'))).toEqual([
    'ghcr.io/acme/base:1',
    'ghcr.io/acme/files:2',
    'ghcr.io/acme/tools',
    'busybox',
  ])
})

test('an engine without build sessions gets the credentials with the request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'))
  const socketPath = join(folder, 'engine.sock')
  const { promise: configuration, resolve } = Promise.withResolvers<string>()
  const engine = createServer(({ url, headers }, response) => {
    if (url!.includes('/build?')) resolve(String(headers['x-registry-config']))
    if (url!.includes('/session')) response.writeHead(404)
    const version = { Version: '28.0.0', ApiVersion: '1.48', MinAPIVersion: '1.24' }
    response.end(JSON.stringify(url!.includes('/build?') ? { aux: { ID: 'sha256:1' } } : version))
  })
  await once(engine.listen(socketPath), 'listening')
  onTestFinished(() => {
    engine.close()
    rmSync(folder, { recursive: true })
  })
  const known: Record<string, string> = { 'docker.io': 'a', 'ghcr.io': 'b' }
  await buildImage(new Connection(`unix://${socketPath}`), { claim: () => {} } as never, Readable.from([]), {
    ...{ tag: 'app:1', dockerfile: 'Dockerfile', onLine: () => {}, signal: new AbortController().signal },
    registries: ['docker.io', 'ghcr.io', 'ghcr.io', 'quay.io'],
    registryAuth: (registry) =>
      Promise.resolve(known[registry] === undefined ? null : { username: 'ci', password: known[registry] }),
  })
  expect(JSON.parse(Buffer.from(await configuration, 'base64').toString())).toEqual({
    'https://index.docker.io/v1/': { username: 'ci', password: 'a' },
    'ghcr.io': { username: 'ci', password: 'b' },
  })
})
