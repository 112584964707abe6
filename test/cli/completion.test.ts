import { execFile, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { CLIENT } from './client.ts'

let server: TestServer
let home: string
let env: Record<string, string>

beforeAll(async () => {
  server = await startServer()
  for (const name of ['web', 'worker'])
    await server.api('POST', '/services', {
      name,
      type: 'background_worker',
      deploy: false,
      image: 'busybox:1',
    })
  home = mkdtempSync(join(tmpdir(), 'deployer-home-'))
  const program = join(home, 'deployer')
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${CLIENT} "$@"\n`)
  chmodSync(program, 0o755)
  writeFileSync(join(home, 'notes.txt'), '')
  env = {
    HOME: home,
    PATH: `${home}:${process.env.PATH}`,
    TERM: 'xterm',
    DEPLOYER_HOST: server.url,
    DEPLOYER_TOKEN: server.token,
  }
})
afterAll(async () => {
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
})

function run(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env, cwd: home }, (error, out) => (error ? reject(error) : resolve(out.trim())))
  })
}

/** What each line, written up to the cursor, is completed to. */
const LINES: [words: string[], found: string][] = [
  [['ho'], 'hosts'],
  [['hosts', ''], 'use remove'],
  [['completion', ''], 'bash zsh fish'],
  [['init', 'w'], 'web worker'],
  [['init', '-e', 'production', 'we'], 'web'],
  [['init', '--environment', 'p'], 'production'],
  [['init', '--cr'], '--create'],
  [['init', "it's a"], ''],
]

test('bash completes commands, flags, values and names, also under set -u', async () => {
  const calls = LINES.map(
    ([words]) => `try ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}`,
  )
  const script = `source <(deployer completion bash)
try() { COMP_WORDS=(deployer "$@"); COMP_CWORD=$#; _deployer; echo "\${COMPREPLY[*]-}"; }
${calls.join('\n')}
try init --environment = pro`
  const found = (await run('bash', ['-uc', script])).split('\n')
  expect(found).toEqual([...LINES.map(([, found]) => found), 'production'])
})

test('fish completes them, and files where there is nothing else', async () => {
  const lines = LINES.slice(0, -1).map(
    ([words]) => `complete -C "deployer ${words.join(' ')}" | string join ' '`,
  )
  const script = `source (deployer completion fish | psub)\n${lines.join('\n')}\ncomplete -C "deployer version no"`
  const found = (await run('fish', ['--no-config', '-c', script])).split('\n')
  const sorted = (text: string) => text.split(' ').sort().join(' ')
  expect(found.slice(0, -1).map(sorted)).toEqual(LINES.slice(0, -1).map(([, found]) => sorted(found)))
  expect(found.at(-1)).toBe('notes.txt')
})

test('zsh completes them at the tab key', async () => {
  // A shell at a real terminal: it completes nowhere else.
  const shell = spawn('script', ['-qec', 'zsh -f -i', '/dev/null'], { env, cwd: home })
  let printed = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const type = async (text: string, until: RegExp) => {
    const from = printed.length
    shell.stdin.write(text)
    await expect.poll(() => printed.slice(from)).toMatch(until)
  }
  const setUp =
    'autoload -Uz compinit && compinit -u -d dump; source <(deployer completion zsh); echo rea""dy\n'
  await type(setUp, /ready/)
  await type('deployer hos\t', /hosts/)
  await type('\u0015deployer init we\t', /web/)
  shell.stdin.end('\u0015exit\n')
  await new Promise((resolve) => shell.once('close', resolve))
})

test('nothing is printed, and no fault, without a server that answers', async () => {
  const away = { ...env, DEPLOYER_HOST: 'http://127.0.0.1:1', XDG_CACHE_HOME: join(home, 'empty') }
  const out = await new Promise((resolve) => {
    execFile('deployer', ['__complete', '--', 'init', ''], { env: away }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    )
  })
  expect(out).toEqual({ code: 0, out: '', err: '' })
})
