import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCommand } from '../../scripts/lib/command.mjs'
import { builtServer } from '../support/build.ts'
import { allEvents, readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'
import { become, create, keyvalue, query, read, tlsUrlOf, type Datastore } from './datastore-support.ts'
import { docker, endOf, fetchFrom } from './live.ts'
import { openShell } from './shell-client.ts'

/** A certificate that has signed none of this server's. */
const OTHER_AUTHORITY = readFileSync(new URL('../proxy/certificates/app.crt', import.meta.url), 'utf8')

let server: TestServer
let clientProgram: string
/** Has psql where the distribution has none: that of the database's image. */
let programs: string

beforeAll(async () => {
  clientProgram = join(dirname(await builtServer()), '../cli/deployer.mjs')
  programs = mkdtempSync(join(tmpdir(), 'deployer-programs-'))
  if (!findCommand('psql')) {
    const variables = ['HOST', 'PORT', 'USER', 'PASSWORD', 'DATABASE'].map((name) => `-e PG${name}`).join(' ')
    const words = `-H ${standEngine()} run --rm --network host ${variables} --entrypoint psql postgres:15`
    writeFileSync(join(programs, 'psql'), `#!/bin/sh\nexec docker ${words} "$@"\n`, { mode: 0o755 })
  }
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
})

afterAll(async () => {
  await server?.stop()
  rmSync(programs, { recursive: true, force: true })
})

/** Starts the client of a laptop, which knows the server's address and a token. */
function spawnClient(
  words: string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [clientProgram, ...words], {
    env: {
      PATH: `${programs}:${process.env.PATH}`,
      HOME: programs,
      DEPLOYER_HOST: server.url,
      DEPLOYER_TOKEN: server.token,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function client(...words: string[]): Promise<{ code: number; out: string; error: string }> {
  const child = spawnClient(words)
  const ended = once(child, 'close')
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: (await ended)[0] as number, out, error }
}

/** When its container started. */
function startOf(id: string): Promise<string> {
  return docker('inspect', '-f', '{{.State.StartedAt}}', id)
}

/** The lines of a datastore's log that contain a word. */
async function loggedLines(id: string, word: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${server.token}` }
  const response = await fetch(`${server.url}/api/v1/datastores/${id}/logs?tail=10000&search=${word}`, {
    headers,
  })
  const events = await allEvents(response)
  expect(events.at(-1)?.event).toBe('end')
  return events.flatMap(({ event, data }) =>
    event === 'log' ? (JSON.parse(data) as { line: string }).line : [],
  )
}

describe('a relational datastore', () => {
  let db: Datastore

  /** Has it print a unique line. */
  async function mark(word: string): Promise<void> {
    await expect(query(db.external_url, `SELECT 'mark-${word}'::int`)).rejects.toThrow('invalid input')
    await waitFor(async () => (await loggedLines(db.id, `mark-${word}`)).length > 0, 'the line')
  }

  test('is answered at once and accepts clients soon after', async () => {
    const created = await create(server, { kind: 'relational', name: 'main-db' })
    expect(created).toMatchObject({ status: 'creating', version: '18', error: null })
    db = await become(server, created.id, 'available')
    expect(db.internal_url).toMatch(/^postgresql:\/\/main_db:[0-9a-f]{48}@main-db:5432\/main_db$/)
    expect(db.connect_command).toBe(`psql '${db.external_url}'`)
    await query(db.external_url, 'CREATE TABLE notes (id int PRIMARY KEY); INSERT INTO notes VALUES (1)')
  })

  test('is published only on loopback, and accepts no other password', async () => {
    expect(await docker('port', db.id)).toBe(`5432/tcp -> 127.0.0.1:${db.host_port}`)
    const wrong = db.external_url.replace(/:[0-9a-f]{48}@/, ':wrong@')
    await expect(query(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed')
  })

  /** What psql prints for an address, from a container of its network with the authority's certificate in /tmp/ca. */
  async function psql(url: string, sql: string): Promise<string> {
    const network = await docker('inspect', '-f', '{{.HostConfig.NetworkMode}}', db.id)
    const script = 'printf %s "$CA" >/tmp/ca && exec psql -Atc "$SQL" "$URL"'
    const env = [`CA=${db.ca_certificate}`, `SQL=${sql}`, `URL=${url}`].flatMap((text) => ['-e', text])
    return docker(
      'run',
      '--rm',
      '--network',
      network,
      ...env,
      '--entrypoint',
      'sh',
      'postgres:15',
      '-c',
      script,
    )
  }

  test('speaks TLS to clients that ask for it, inside and on the host, and plain text to others', async () => {
    expect(db).toMatchObject({ internal_tls_port: 5432, host_tls_port: db.host_port })
    const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    expect(await query(db.external_url, sql)).toEqual([[false]])
    expect(await query(db.external_url, sql, db.ca_certificate)).toEqual([[true]])
    expect(await query(db.external_url.replace('127.0.0.1', 'localhost'), sql, db.ca_certificate)).toEqual([
      [true],
    ])
    const verified = `${db.internal_url}?sslmode=verify-full&sslrootcert=/tmp/ca`
    expect(await psql(verified, sql)).toBe('t')
    expect(await psql(`${db.internal_url}?sslmode=require`, sql)).toBe('t')
    expect(await psql(`${db.internal_url}?sslmode=disable`, sql)).toBe('f')
    await expect(psql(verified.replace('main-db', db.id), sql)).rejects.toThrow('does not match host name')
    await expect(query(db.external_url, sql, OTHER_AUTHORITY)).rejects.toThrow('unable to verify')
  })

  test('counts statements with pg_stat_statements', async () => {
    await query(db.external_url, 'CREATE EXTENSION pg_stat_statements')
    await query(db.external_url, 'SELECT count(*) FROM notes')
    const calls = "SELECT calls::int FROM pg_stat_statements WHERE query = 'SELECT count(*) FROM notes'"
    expect(await query(db.external_url, calls)).toEqual([[1]])
  })

  test('is reached by its name from the services of its environment, which can verify it', async () => {
    const { body } = await server.api('POST', '/services', {
      name: 'client',
      type: 'web_service',
      image: 'postgres:15',
      port: 8080,
      env: [
        { key: 'DATABASE_URL', value: '${{datastore.main-db.url}}?sslmode=verify-full&sslrootcert=/tmp/ca' },
        { key: 'CA', value: '${{datastore.main-db.ca_certificate}}' },
      ],
      start_command:
        'printf %s "$CA" >/tmp/ca; while :; do printf "HTTP/1.0 200 OK\\r\\n\\r\\n%s" "$(psql -Atc "SELECT count(*) FROM notes" "$DATABASE_URL" 2>&1)" | perl -MIO::Socket::INET -e \'$s = IO::Socket::INET->new(LocalPort => 8080, Listen => 5, ReuseAddr => 1); @t = <STDIN>; while ($c = $s->accept) { sysread $c, $_, 4096; print $c @t; close $c }\'; done',
    })
    expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
    const answer = await waitFor(
      async () => (await fetchFrom(server, 'client.localhost')).text,
      'the service to answer',
    )
    expect(answer).toBe('1')
    // A service that is deployed again finds what it wrote.
    await query(db.external_url, 'INSERT INTO notes VALUES (2)')
    const again = (await server.api('POST', '/services/client/restart')).body
    expect(await endOf(server, again.id)).toMatchObject({ status: 'live' })
    await waitFor(async () => (await fetchFrom(server, 'client.localhost')).text === '2', 'the new instance')
    await query(db.external_url, 'DELETE FROM notes WHERE id = 2')
  })

  test('is reached from other computers with psql, on a port of theirs, through the API', async () => {
    const connect = await client('db', 'connect', 'main-db', '--tunnel', '--', '-Atc', 'SELECT id FROM notes')
    expect(connect).toEqual({ code: 0, out: '1\n', error: '' })
    const failed = await client('db', 'connect', 'main-db', '--tunnel', '--', '-Atc', 'SELECT 1 FROM nothing')
    expect(failed).toMatchObject({ code: 1, error: expect.stringContaining('"nothing" does not exist') })
    expect(await client('db', 'connect', 'main-db', '--', '-Atc', 'SELECT 2')).toMatchObject({ out: '2\n' })
    expect(await client('db', 'url', 'main-db')).toEqual({ code: 0, out: `${db.external_url}\n`, error: '' })
    const program = spawnClient(['db', 'proxy', 'main-db', '--tunnel', '--reveal'])
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]()
    const address = (await lines.next()).value as string
    const url = (await lines.next()).value as string
    expect(url).toBe(db.external_url.replace(`127.0.0.1:${db.host_port}`, address))
    // More than all that waits between the two ends.
    const rows = 'SELECT md5(i::text) FROM generate_series(1, 200000) i'
    const [through, direct] = await Promise.all([query(url, rows), query(db.external_url, rows)])
    expect(through).toEqual(direct)
    expect(
      await query(url, 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()', db.ca_certificate),
    ).toEqual([[true]])
    program.kill('SIGINT')
    expect((await once(program, 'exit'))[0]).toBe(130)
    expect(server.logs).toMatch(/a tunnel has ended.*server token/)
  })

  test('is opened with the psql of its image, signed in', async () => {
    const shell = await openShell(server, 'datastores/main-db')
    expect(shell.opened.container).toBe(db.id)
    await shell.until(/main_db=/)
    shell.type('SELECT current_user, count(*) FROM notes;\r')
    await shell.until(/main_db +\| +1/)
    shell.type('\\q\r')
    expect(await shell.closed).toMatchObject({ code: 1000 })
    expect(shell.texts).toEqual([{ exit_code: 0 }])
  })

  test('gets new limits without a restart', async () => {
    const began = await startOf(db.id)
    const { status, body } = await server.api('PATCH', `/datastores/${db.name}`, {
      memory_limit_mb: 768,
      cpu_limit: 0.5,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ memory_limit_mb: 768, cpu_limit: 0.5, status: 'available' })
    expect(await docker('inspect', '-f', '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}', db.id)).toBe(
      `${768 * 1024 * 1024} 500000000`,
    )
    expect(await startOf(db.id)).toBe(began)
  })

  test('says why when limits cannot be applied, and keeps them for its next start', async () => {
    const { status, body } = await server.api('PATCH', `/datastores/${db.id}`, { memory_limit_mb: 16 })
    if (status === 502) expect(body.error.message).toMatch(/^saved; not applied yet: /)
    else expect(status).toBe(200)
    expect(await read(server, db.id)).toMatchObject({ memory_limit_mb: 16 })
    const back = await server.api('PATCH', `/datastores/${db.id}`, { memory_limit_mb: 0 })
    expect(back.status).toBe(200)
  })

  test('is unavailable while its program is down, comes back by itself and keeps its rows', async () => {
    await mark('killed')
    await docker('kill', db.id)
    await become(server, db.id, 'unavailable')
    await become(server, db.id, 'available')
    expect(await query(db.external_url, 'SELECT id FROM notes')).toEqual([[1]])
  })

  test('is created again when its container is removed by hand', async () => {
    await mark('removed')
    await docker('rm', '-f', db.id)
    await become(server, db.id, 'unavailable')
    await become(server, db.id, 'available')
    expect(await query(db.external_url, 'SELECT id FROM notes')).toEqual([[1]])
  })

  test('survives a kill of the server', async () => {
    await mark('left')
    await server.kill('SIGKILL')
    await docker('kill', db.id)
    await server.restart()
    const rows = await waitFor(() => query(db.external_url, 'SELECT id FROM notes'), 'its rows')
    expect(rows).toEqual([[1]])
    await become(server, db.id, 'available')
  })

  test('has a log of all its containers, with every line once, that says why they ended', async () => {
    await mark('back')
    const marks = (await loggedLines(db.id, 'ERROR')).flatMap((line) => /mark-\w+/.exec(line)?.[0] ?? [])
    expect(marks).toEqual(['mark-killed', 'mark-removed', 'mark-left', 'mark-back'])
    expect((await loggedLines(db.id, 'restarting')).join('\n')).toMatch(/exit code 137.*; restarting it/)
    const followed = await fetch(`${server.url}/api/v1/datastores/main-db/logs?follow&tail=0`, {
      headers: { authorization: `Bearer ${server.token}` },
    })
    const reading = readEvents(followed)
    const next = reading.next()
    await mark('followed')
    expect((await next).value).toMatchObject({ event: 'log', data: expect.stringContaining('mark-followed') })
    await reading.return(undefined)
  })

  test('reports its disk usage', async () => {
    const measured = await waitFor(async () => (await read(server, db.id)).disk_bytes, 'its size')
    expect(measured).toBeGreaterThan(1_000_000)
    expect(measured).toBeLessThan(1_000_000_000)
  })

  test('is not deleted while variables refer to it, unless forced; then nothing of it is left', async () => {
    const volume = await docker('inspect', '-f', '{{range .Mounts}}{{.Name}} {{end}}', db.id)
    const refused = await server.api('DELETE', `/datastores/${db.id}`)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(refused.body.error.message).toContain('DATABASE_URL of service client')
    const references = ['CA', 'DATABASE_URL'].map((key) => ({ holder: 'service', name: 'client', key }))
    expect((await server.api('GET', `/datastores/${db.id}/references`)).body).toEqual(references)
    expect((await server.api('DELETE', `/datastores/${db.id}?force`)).status).toBe(204)
    expect((await server.api('GET', `/datastores/${db.id}`)).status).toBe(404)
    expect(existsSync(join(server.dataDirectory, 'logs', 'services', db.id))).toBe(false)
    expect(await docker('ps', '-aq', '--filter', `name=${db.id}`)).toBe('')
    expect(await docker('volume', 'ls', '-q')).not.toContain(volume.trim())
    await expect(query(db.external_url, 'SELECT 1')).rejects.toThrow()
  })
})

describe('a key-value datastore', () => {
  let cache: Datastore

  test('is available soon, requires its password and writes its data to disk', async () => {
    const created = await create(server, { kind: 'keyvalue', name: 'cache', memory_limit_mb: 64 })
    cache = await become(server, created.id, 'available')
    expect(cache.internal_url).toMatch(/^redis:\/\/default:[0-9a-f]{48}@cache:6379$/)
    await keyvalue(cache.external_url, (client) => client.set('kept', 'yes'))
    const stranger = cache.external_url.replace(/default:[0-9a-f]{48}@/, '')
    await expect(keyvalue(stranger, (client) => client.get('kept'))).rejects.toThrow('NOAUTH')
    expect(await docker('inspect', '-f', '{{.Args}} {{.Config.Env}} {{.Config.Cmd}}', cache.id)).not.toMatch(
      /[0-9a-f]{48}/,
    )
  })

  test('speaks TLS at a separate port, inside and on the host, and plain text at the other', async () => {
    expect(cache).toMatchObject({ internal_port: 6379, internal_tls_port: 6380 })
    const get = (url: string, ca?: string) => keyvalue(url, (client) => client.get('kept'), ca)
    expect(await get(tlsUrlOf(cache), cache.ca_certificate)).toBe('yes')
    expect(await get(cache.external_url)).toBe('yes')
    await expect(get(tlsUrlOf(cache), OTHER_AUTHORITY)).rejects.toThrow('unable to verify')
    await expect(get(tlsUrlOf(cache).replace('rediss:', 'redis:'))).rejects.toThrow()
    const script = `printf %s "$CA" >/tmp/ca && exec redis-cli --tls --cacert /tmp/ca -u "$URL" --no-auth-warning get kept`
    const url = cache.internal_url.replace('redis://', 'rediss://').replace('6379', '6380')
    const env = [`CA=${cache.ca_certificate}`, `URL=${url}`].flatMap((text) => ['-e', text])
    expect(await docker('exec', ...env, cache.id, 'sh', '-c', script)).toBe('yes')
  })

  test('is reached from other computers with the client program of its image, and says if there is none', async () => {
    const image = await docker('inspect', '-f', '{{.Config.Image}}', cache.id)
    const words = `-H ${standEngine()} run --rm --network host -e VALKEYCLI_AUTH -e REDISCLI_AUTH`
    const script = `#!/bin/sh\nexec docker ${words} --entrypoint redis-cli ${image} "$@"\n`
    writeFileSync(join(programs, 'valkey-cli'), script, { mode: 0o755 })
    const connect = ['db', 'connect', 'cache', '--tunnel', '--', 'get', 'kept']
    expect(await client(...connect)).toMatchObject({ code: 0, out: 'yes\n' })
    rmSync(join(programs, 'valkey-cli'))
    const none = spawnClient(connect, { PATH: programs })
    expect([await text(none.stderr), (await once(none, 'close'))[0]]).toEqual([
      expect.stringMatching(
        /^deployer: valkey-cli or redis-cli is not installed; .*deployer db proxy cache\n$/,
      ),
      127,
    ])
    expect(await client('db', 'connect', 'nobody')).toMatchObject({
      code: 125,
      error: expect.stringContaining('there is no datastore nobody'),
    })
  })

  test('is opened with the client of its image, signed in', async () => {
    const shell = await openShell(server, 'datastores/cache')
    // What is typed before the program is at its prompt, it throws away.
    await shell.until(/6379> /)
    shell.type('get kept\r')
    await shell.until(/"yes"/)
    shell.type('exit\r')
    expect(await shell.closed).toMatchObject({ code: 1000 })
  })

  test('uses more memory as soon as it may', async () => {
    expect((await server.api('PATCH', '/datastores/cache', { memory_limit_mb: 128 })).status).toBe(200)
    const limit = await keyvalue(cache.external_url, (client) => client.configGet('maxmemory'))
    expect(limit).toMatchObject({ maxmemory: String(96 * 1024 * 1024) })
  })

  test('keeps its data when it is killed', async () => {
    await docker('kill', cache.id)
    await become(server, cache.id, 'unavailable')
    await become(server, cache.id, 'available')
    expect(await keyvalue(cache.external_url, (client) => client.get('kept'))).toBe('yes')
    await waitFor(
      async () => (await loggedLines(cache.id, 'Ready')).length === 2,
      'the line of its second start',
    )
    await waitFor(async () => (await read(server, cache.id)).disk_bytes !== null, 'its size')
  })
})

describe('datastores', () => {
  test('with the same name in two environments are separate', async () => {
    await server.api('POST', '/environments', { name: 'staging' })
    const here = await create(server, { kind: 'keyvalue', name: 'twin' })
    const there = await create(server, { kind: 'keyvalue', name: 'twin', environment: 'staging' })
    await Promise.all([become(server, here.id, 'available'), become(server, there.id, 'available')])
    const [mine, theirs] = [await read(server, here.id), await read(server, there.id)]
    await keyvalue(mine.external_url, (client) => client.set('who', 'production'))
    expect(await keyvalue(theirs.external_url, (client) => client.get('who'))).toBeNull()
    const reach = docker('exec', here.id, 'redis-cli', '-u', theirs.internal_url, 'get', 'who')
    expect(await reach.catch(({ message }: Error) => message)).not.toContain('production')
    const busy = await server.api('DELETE', '/environments/staging')
    expect(busy).toMatchObject({ status: 409 })
    expect(busy.body.error.message).toContain('datastores: twin')
    const { body } = await server.api('GET', '/environments/staging')
    expect(body.datastores).toEqual(['twin'])
  })

  test('share their names with services', async () => {
    const taken = await server.api('POST', '/services', { name: 'twin' })
    expect(taken).toMatchObject({ status: 409 })
    expect(taken.body.error.message).toMatch(/^name: twin is in use by datastore dbs-/)
    expect((await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'client' })).status).toBe(409)
  })

  test('with a version that does not exist fail with the reason, and can be deleted', async () => {
    const { id } = await create(server, { kind: 'relational', name: 'never', version: '999' })
    const failed = await become(server, id, 'failed')
    expect(failed.error).toContain('postgres:999')
    expect((await server.api('DELETE', `/datastores/never`)).status).toBe(204)
  })

  test('whose program cannot start fail with its output, until it can', async () => {
    const { id } = await create(server, {
      kind: 'relational',
      name: 'tiny',
      memory_limit_mb: 16,
      version: '15',
    })
    const failed = await become(server, id, 'failed')
    expect(failed.error).toMatch(/the program ended/)
    expect((await server.api('PATCH', '/datastores/tiny', { memory_limit_mb: 256 })).status).toBe(200)
    await become(server, id, 'available')
    expect((await server.api('DELETE', `/datastores/tiny`)).status).toBe(204)
  })
})
