import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtServer } from '../support/build.ts'
import { McpHost, type Revision } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'

let entry: string
let server: TestServer
let home: string
let signedIn: Record<string, string>
let signedOut: Record<string, string>

beforeAll(async () => {
  entry = await builtServer()
  server = await startServer()
  home = mkdtempSync(join(tmpdir(), 'deployer-mcp-'))
  await server.api('POST', '/services', { name: 'web', type: 'background_worker', deploy: false })
  signedOut = { HOME: home, PATH: process.env.PATH!, DEPLOYER_DATA_DIR: join(home, 'none') }
  signedIn = { ...signedOut, DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: server.token }
})
afterAll(async () => {
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

interface Outcome {
  code: number
  out: string
  error: string
}

/** Runs the command with an input that has already ended. */
function deployer(words: string[], env: Record<string, string> = signedOut): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [entry, 'mcp', ...words], { env }, (failure, out, error) =>
      resolve({ code: typeof failure?.code === 'number' ? failure.code : failure ? 1 : 0, out, error }),
    )
    child.stdin!.end()
  })
}

test.each<Revision>(['2026-07-28', 'before'])('a host of revision %s reads and writes', async (revision) => {
  const reading = await McpHost.overStdio([], signedIn, revision)
  expect(reading.client.getInstructions()).toMatch(/production/)
  expect((await reading.client.listTools()).tools.length).toBeGreaterThan(10)
  expect(await reading.call('list_services')).toMatchObject({ services: [{ name: 'web' }] })
  expect(await reading.call('read_logs', { of: 'server', level: 'warn', lines: 1 })).toMatchObject({
    lines: [{ level: 'warn' }],
  })
  expect(await reading.fault('get_service', { service: 'wbe' })).toMatch(
    /^not_found: .*\. Did you mean web\?$/,
  )
  await expect(reading.client.callTool({ name: 'suspend_service' })).rejects.toMatchObject({ code: -32602 })
  await reading.close()
  const words = ['--write', '--tools', 'suspend_service,deploy_service']
  const writing = await McpHost.overStdio(words, signedIn, revision)
  expect((await writing.client.listTools()).tools.map(({ name }) => name)).toEqual([
    'deploy_service',
    'suspend_service',
  ])
  expect(await writing.call('suspend_service', { service: 'web' })).toMatchObject({
    service: { state: 'suspended' },
  })
  await writing.close()
  expect(reading.answers + writing.answers).not.toContain(server.token)
})

test('without a sign-in it starts, and every tool says how to sign in', async () => {
  const host = await McpHost.overStdio(['--write'], signedOut, 'before')
  const { tools } = await host.client.listTools()
  const given = {
    of: 'server',
    service: 'x',
    yaml: 'x',
    deploy_id: 'x',
    job_id: 'x',
    repo_url: 'x',
    datastore: 'x',
  }
  const fields = { ...given, kind: 'relational', name: 'x', instances: 1, folder: '.', command: 'x' }
  for (const { name, inputSchema } of tools) {
    const wanted = Object.entries(fields).filter(([field]) => inputSchema.required?.includes(field))
    const more = name.endsWith('_variables') ? [['service', 'x']] : []
    expect(await host.fault(name, Object.fromEntries([...wanted, ...more]))).toMatch(
      /^unauthorized: not signed in; deployer login/,
    )
  }
  await host.close()
  const wrong = await McpHost.overStdio(
    [],
    { ...signedIn, DEPLOYER_TOKEN: `dpl_${'0'.repeat(40)}` },
    'before',
  )
  expect(await wrong.fault('list_services')).toMatch(/^unauthorized: .*deployer login/)
  await wrong.close()
})

test('it ends with its input, and when it is told to', async () => {
  expect(await deployer([], signedIn)).toEqual({ code: 0, out: '', error: '' })
  const child = spawn(process.execPath, [entry, 'mcp'], { env: signedIn, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\nnot JSON\n`)
  const [answer] = (await once(child.stdout, 'data')) as [Buffer]
  expect(JSON.parse(answer.toString())).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([143, null])
})

test('words that make no sense are refused', async () => {
  expect(await deployer(['--tools', 'list_servces'])).toMatchObject({
    code: 2,
    out: '',
    error: 'deployer: --tools: there is no tool list_servces. Did you mean list_services?\n',
  })
  expect(await deployer(['--tools', 'deploy_service'])).toMatchObject({
    code: 2,
    error: 'deployer: --tools: deploy_service changes something; add --write\n',
  })
})

test('the configuration for hosts has the words, and no token', async () => {
  const { code, out } = await deployer(['--print-config', '--write', '--host', server.url], signedIn)
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { mcpServers: { deployer: { command: 'deployer', args: ['mcp', '--write', '--host', server.url] } } },
  ])
})
