import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { migrations } from '#server/database/migrations/index.ts'
import { openVault } from '#server/secrets.ts'
import { startServer } from '../support/server.ts'

const SERVICE = 'srv-0123456789abcdef0123'
const LIVE = 'dep-00000000000000000003'
const TOKEN = `dpl_${'5'.repeat(40)}`
const MOMENT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

/** A data directory that is removed with its test. */
function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'deployer-old-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Writes a data directory as the first version of the server did, with something of each kind that it supported. */
function writeFirstData(directory: string): void {
  const vault = openVault(join(directory, 'secret.key'))
  const database = new DatabaseSync(join(directory, 'deployer.db'))
  database.exec(`PRAGMA journal_mode = WAL; ${migrations[0]}; PRAGMA user_version = 1`)
  const insert = (table: string, row: Record<string, string | number | null | Uint8Array>) => {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join(', ')
    database
      .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`)
      .run(...Object.values(row))
  }
  const secret_hash = createHash('sha256').update(TOKEN).digest('hex')
  insert('settings', { key: 'server_id', value: '0123456789abcdef0123' })
  insert('api_tokens', {
    id: 'tok-00000000000000000001',
    name: 'ci',
    secret_hash,
    hint: '5555',
    created_at: MOMENT,
  })
  for (const [at, name] of ['production', 'staging'].entries())
    insert('environments', { id: `env-0000000000000000000${at}`, name, created_at: MOMENT })
  insert('services', {
    ...{ id: SERVICE, environment_id: 'env-00000000000000000001', name: 'web', type: 'web_service' },
    ...{ runtime: 'auto', image: 'registry.example.com/team/web:2', health_check_path: '/up', port: 8080 },
    ...{
      instances: 1,
      disk_mount_path: '/data',
      memory_limit_mb: 256,
      cpu_limit: 0.5,
      auto_deploy: 0,
      suspended: 1,
    },
    ...{ deploy_hook_key: 'a'.repeat(40), live_deploy_id: LIVE, created_at: MOMENT, updated_at: MOMENT },
  })
  for (const [position, [key, value]] of [
    ['Z', 'é"$\n'],
    ['A', ''],
  ].entries())
    insert('service_variables', { service_id: SERVICE, key: key!, value: vault.seal(value!), position })
  for (const [at, status] of ['build_failed', 'deactivated', 'live'].entries())
    insert('deploys', {
      ...{ id: `dep-0000000000000000000${at + 1}`, sequence: at + 1, service_id: SERVICE, status },
      ...{
        trigger: 'manual',
        source: JSON.stringify({ kind: 'image', repo_url: null, branch: null, commit: null }),
      },
      ...{ was_live: at, error: at === 0 ? 'it was so' : null, created_at: MOMENT + at },
      ...{ started_at: MOMENT + at, finished_at: MOMENT + at },
    })
  database.close()
}

it('data of the first version is served as it was', async () => {
  const dataDirectory = place()
  writeFirstData(dataDirectory)
  const server = await startServer({ dataDirectory })
  onTestFinished(() => server.stop())
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    return (await server.api('GET', path, undefined, { headers })).body as unknown
  }
  expect(await get('/environments')).toMatchObject([
    { name: 'production', services: [] },
    { name: 'staging', services: ['web'] },
  ])
  expect(await get('/services?environment=staging')).toMatchObject([
    {
      ...{
        id: SERVICE,
        name: 'web',
        type: 'web_service',
        image: 'registry.example.com/team/web:2',
        port: 8080,
      },
      ...{ disk_mount_path: '/data', disks: [{ name: 'data', mount_path: '/data' }] },
      ...{ health_check_path: '/up', instances: 1, memory_limit_mb: 256, cpu_limit: 0.5, auto_deploy: false },
      ...{ suspended: true, state: 'suspended', deploy_hook_key: 'a'.repeat(40), live_deploy_id: LIVE },
      ...{ created_at: '2026-01-02T03:04:05.678Z', env_groups: [], apt_packages: [], canonical_domain: null },
    },
  ])
  expect(await get(`/services/${SERVICE}/env`)).toEqual([
    { key: 'Z', value: 'é"$\n' },
    { key: 'A', value: '' },
  ])
  expect(await get(`/services/${SERVICE}/deploys`)).toMatchObject([
    { id: LIVE, status: 'live' },
    { status: 'deactivated', error: null },
    { status: 'build_failed', error: 'it was so', finished_at: '2026-01-02T03:04:05.678Z' },
  ])
})

it('data of a later version is refused and left as it is', async () => {
  const dataDirectory = place()
  const file = join(dataDirectory, 'deployer.db')
  const database = new DatabaseSync(file)
  database.exec(
    `PRAGMA journal_mode = WAL; CREATE TABLE later (a TEXT) STRICT; PRAGMA user_version = ${migrations.length + 1}`,
  )
  database.close()
  const before = readFileSync(file)
  const started = startServer({ dataDirectory })
  await expect(started).rejects.toThrow(
    `the database is at version ${migrations.length + 1}, this server supports up to ${migrations.length}: start the newer server`,
  )
  expect(readFileSync(file).equals(before)).toBe(true)
})
