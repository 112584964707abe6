import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from '../api/account-client.ts'
import { freePort } from '../git/remotes.ts'
import { builtServer } from '../support/build.ts'
import { ciExamples } from '../support/ci-examples.ts'
import { databaseOf } from '../support/database.ts'
import type { TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { checkedOut, runJob, settingsFor, variablesOf } from './ci-job.ts'
import { linesOf, type Outcome, type Running } from './client.ts'

/** A user of the client: a home folder for each test, and an account at the server. */
interface User {
  home(): string
  browser(): Browser
  start(words: string[], options: { env: Record<string, string>; hasOwnGroup?: boolean }): Running
  run(words: string[], options: { env: Record<string, string> }): Promise<Outcome>
}

/** The client by way of a real ssh server, which this machine reaches as root. */
export function sshCases(server: () => TestServer, user: User): void {
  let folder: string
  let sshd: ChildProcess
  let address: string
  let path: string
  let port: number

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'deployer-sshd-'))
    mkdirSync('/run/sshd', { recursive: true })
    for (const name of ['host', 'client'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
    port = await freePort()
    const programs = join(folder, 'bin')
    mkdirSync(programs)
    writeProgram(join(programs, 'deployer'), `exec ${process.execPath} ${await builtServer()} "$@"`)
    const settings = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'client.pub')}`,
      'PidFile none',
      'UsePAM no',
      'StrictModes no',
      'PermitRootLogin prohibit-password',
      `SetEnv PATH=${programs}:/usr/bin:/bin DEPLOYER_DATA_DIR=${server().dataDirectory}`,
    ]
    writeFileSync(join(folder, 'config'), `${settings.join('\n')}\n`)
    sshd = spawn('/usr/sbin/sshd', ['-D', '-f', join(folder, 'config'), '-E', join(folder, 'log')])
    // The user's own configuration, which ssh reads from the real home folder.
    const own = ['User root', `IdentityFile ${join(folder, 'client')}`, 'StrictHostKeyChecking no']
    writeFileSync(
      join(folder, 'own'),
      `${[...own, 'UserKnownHostsFile /dev/null', 'LogLevel ERROR'].join('\n')}\n`,
    )
    const ours = join(folder, 'ours')
    mkdirSync(ours)
    writeProgram(join(ours, 'ssh'), `exec /usr/bin/ssh -F ${join(folder, 'own')} "$@"`)
    path = `${ours}:${process.env.PATH}`
    address = `ssh://127.0.0.1:${port}?api=${new URL(server().url).host}`
  })
  afterAll(() => {
    sshd?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  test('is signed in to with a token that its host creates, and asked through its own socket', async () => {
    const login = await user.run(['login', address, '--as', 'far', '--name', 'by ssh'], {
      env: { PATH: path },
    })
    expect(login).toMatchObject({ code: 0, out: `Signed in to ${address} as far\n` })
    const { out } = await user.run(['whoami', '--json'], { env: { PATH: path } })
    expect(JSON.parse(out)).toMatchObject({ alias: 'far', host: address })
    const { body } = await user.browser().get('/auth/tokens')
    expect(body).toContainEqual(expect.objectContaining({ name: 'by ssh' }))
  })

  test('brings a datastore here through ssh, or through tunnels of the API', async () => {
    // What the datastore would be, which only an engine can start.
    const echo = createServer((socket) => void socket.pipe(socket)).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    await server().api('POST', '/datastores', { kind: 'keyvalue', name: 'cache' })
    const database = databaseOf(server().dataDirectory)
    database
      .prepare("UPDATE datastores SET status = 'available', host_port = ? WHERE name = 'cache'")
      .run((echo.address() as AddressInfo).port)
    database.close()
    const env = { PATH: path, DEPLOYER_HOST: address, DEPLOYER_TOKEN: server().token }
    try {
      for (const words of [[], ['--tunnel']]) {
        const proxy = user.start(['db', 'proxy', 'cache', ...words], { env })
        const [, port] = await waitFor(
          () => /^127\.0\.0\.1:(\d+)\nredis:\/\/.*\n$/.exec(proxy.out),
          'the port',
        )
        const socket = connect(Number(port), '127.0.0.1')
        socket.write('PING')
        expect(String((await once(socket, 'data'))[0])).toBe('PING')
        socket.destroy()
        proxy.child.kill('SIGINT')
        expect(await proxy.ended).toMatchObject({ code: 130, error: '' })
      }
      expect(server().logs.split('a tunnel was opened')).toHaveLength(2)
    } finally {
      echo.close()
    }
  })

  test('brings the dashboard here until Ctrl-C', async () => {
    const env = { PATH: path, DEPLOYER_HOST: address, DEPLOYER_TOKEN: server().token }
    const opened = user.start(['open', '--dashboard'], { env })
    const url = await waitFor(() => linesOf(opened.out)[0], 'the address')
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(url).not.toBe(`${server().url}/`)
    expect(await (await fetch(url)).text()).toContain('<html')
    opened.child.kill('SIGINT')
    expect(await opened.ended).toMatchObject({ code: 130, error: expect.stringContaining('until Ctrl-C') })
  })

  test('is left by Ctrl-C without a trace, although ssh gets it too', async () => {
    const env = { PATH: path, DEPLOYER_HOST: address, DEPLOYER_TOKEN: server().token, TMPDIR: user.home() }
    const before = readdirSync(user.home())
    const following = user.start(['events'], { env, hasOwnGroup: true })
    let made = 0
    await waitFor(async () => {
      await server().api('POST', '/environments', { name: `seen-${++made}` })
      return following.out
    }, 'an event')
    const group = -following.child.pid!
    process.kill(group, 'SIGINT')
    expect(await following.ended).toMatchObject({ code: 130, error: '' })
    await waitFor(() => {
      expect(() => process.kill(group, 0)).toThrow('ESRCH')
      return true
    }, 'the end of ssh')
    expect(readdirSync(user.home())).toEqual(before)
  })

  test('is deployed to from CI as docs/ci.md shows', async () => {
    const programs = join(folder, 'ci')
    mkdirSync(programs)
    const own = ['-i "$HOME/.ssh/id_ed25519"', '-o UserKnownHostsFile="$HOME/.ssh/known_hosts"']
    const place = [`-p ${port} -o HostName=127.0.0.1 -o HostKeyAlias=server.example.com`, '-F none']
    // This machine has no user of that name.
    const words = '"${@/deploy@server/root@server}"'
    writeProgram(join(programs, 'ssh'), `exec /usr/bin/ssh ${[...own, ...place].join(' ')} ${words}`, 'bash')
    const step = ciExamples().steps.find(({ run = '' }) => run.includes('ssh '))!
    const env = variablesOf(step, {
      ...settingsFor(server()),
      SSH_KEY: readFileSync(join(folder, 'client'), 'utf8'),
      SSH_KNOWN_HOSTS: `server.example.com ${readFileSync(join(folder, 'host.pub'), 'utf8')}`,
    })
    env.DEPLOYER_HOST += `?api=${new URL(server().url).host}`
    await server().api('POST', '/services', { name: 'web', deploy: false })
    const running = runJob(step.run!, { cwd: checkedOut(), env, programs })
    let ended: unknown
    void running.then((outcome) => (ended = outcome))
    const deploy = await waitFor(
      async () => (await server().api('GET', '/services/web/deploys')).body[0] ?? ended,
      'the deploy',
    )
    expect(deploy).toMatchObject({ trigger: 'upload' })
    await server().api('POST', `/deploys/${deploy.id}/cancel`)
    expect(await running).toMatchObject({
      code: 1,
      error: expect.stringContaining(`${deploy.id} was canceled`),
    })
    const archive = join(server().dataDirectory, 'archives', `${deploy.id}.tar.gz`)
    expect(execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })).toBe('index.html\n')
  })

  test('that refuses the key ends with 6, and what ssh says is passed on', async () => {
    const bad = address.replace('ssh://', 'ssh://nobody@')
    const env = { PATH: path, DEPLOYER_HOST: bad, DEPLOYER_TOKEN: server().token }
    const outcome = await user.run(['whoami'], { env })
    expect(outcome).toMatchObject({ code: 6, out: '', error: expect.stringContaining('Permission denied') })
  })
}

function writeProgram(file: string, line: string, shell = 'sh'): void {
  writeFileSync(file, `#!/bin/${shell}\n${line}\n`)
  chmodSync(file, 0o755)
}
