import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../api/account-client.ts'
import { builtServer } from '../support/build.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker, endOf } from './live.ts'
import { connectTo, openShell, refusalOf, request, socketTo } from './shell-client.ts'

const SERVE = 'mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'
/** Longer than a busy machine takes to connect. */
const TICKET_MS = 10_000

let server: TestServer
let browser: Browser
let web: string

beforeAll(async () => {
  server = await startServer({ engine: true, schedule: { shellTicketMs: TICKET_MS } })
  browser = await new Browser(server.url).setUp(server.setupCode)
  web = await deploy({
    name: 'web',
    start_command: SERVE,
    env: [{ key: 'COLOUR', value: 'blue' }],
  })
  await server.api('PUT', '/services/web/secret-files/key', { content: 'the key' })
})
afterAll(() => server?.stop())

/** Creates a service from busybox, waits until it is live, and returns the name of its instance. */
async function deploy(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await server.api('POST', '/services', { image: 'busybox:1', ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return (await server.api('GET', `/services/${fields.name as string}/status`)).body.instances[0].name
}

const refused = (status: number, message: RegExp) => ({
  status,
  body: { error: { message: expect.stringMatching(message) as string } },
})

const open = (of: string, fields: object = {}) =>
  server.api('POST', `/services/${of}/shells`, { rows: 24, cols: 80, ...fields })

/** The programs in a container, one a line. */
const programsIn = (container: string) => docker('exec', container, 'ps', '-o', 'args')

async function events(action: string): Promise<{ changes: string[]; resource: { name: string } }[]> {
  return (await server.api('GET', `/audit-events?action=${action}`)).body
}

describe('a shell in an instance', () => {
  test('types into its container, has the size that was asked for, and ends with the exit code', async () => {
    const shell = await openShell(server, 'services/web', { rows: 30, cols: 100 })
    expect(shell.opened.container).toBe(web)
    shell.type('stty size; echo $COLOUR-$((40 + 2)); tty\r')
    await shell.until(/30 100\r\nblue-42\r\n\/dev\/pts\//)
    // It is a terminal: Ctrl-C ends the program, not the shell.
    shell.type('sleep 1000\r')
    await waitFor(async () => (await programsIn(web)).includes('sleep 1000'), 'the program to run')
    shell.type('\u0003')
    for (const size of [40, 41, 42]) shell.resize(size, 120)
    await waitFor(async () => {
      shell.type('stty size\r')
      return shell.printed.includes('42 120')
    }, 'the new size')
    shell.type('exit 7\r')
    expect(await shell.closed).toEqual({ code: 1000, reason: 'the program ended with exit code 7' })
    expect(shell.texts).toEqual([{ exit_code: 7 }])
    const [opened] = await events('shell.opened')
    expect(opened).toMatchObject({
      resource: { kind: 'service', name: 'web' },
      changes: [`shell: ${shell.opened.id}`, `in: ${web}`],
    })
    const [closed] = await waitFor(async () => {
      const found = await events('shell.closed')
      return found.length > 0 && found
    }, 'the end in the audit log')
    expect(closed!.changes).toEqual([
      `shell: ${shell.opened.id}`,
      expect.stringMatching(/^seconds: \d+$/),
      'exit code: 7',
    ])
    expect(server.logs).not.toContain('COLOUR')
  })

  test('runs a command, prints all of its output, and says nothing of it in the audit log', async () => {
    const command = 'seq 1 50000; exit 3'
    const shell = await openShell(server, 'services/web', { instance: web, command })
    expect(await shell.closed).toMatchObject({ code: 1000 })
    expect(shell.texts).toEqual([{ exit_code: 3 }])
    expect(shell.printed).toMatch(/49999\r\n50000\r\n$/)
    expect(shell.bytes).toBe(Array.from({ length: 50_000 }, (_, at) => `${at + 1}\r\n`).join('').length)
    expect((await events('shell.opened'))[0]!.changes).toContain('command: set')
  })

  test('ends with the connection, and all that was started in it too', async () => {
    const shell = await openShell(server, 'services/web')
    // One that a hang-up does not end.
    shell.type('sleep 2001 &\r (trap "" HUP; exec sleep 2002) &\r sleep 2003\r')
    await waitFor(async () => (await programsIn(web)).match(/sleep 200\d/g)?.length === 3, 'three programs')
    await shell.vanish()
    await waitFor(async () => !/sleep 200|deployer-shell/.test(await programsIn(web)), 'their end')
  })

  test('reads no more output than its client has shown, however much there is', async () => {
    const command = 'read -r _; head -c 3000000 /dev/zero'
    const shell = await openShell(server, 'services/web', { command })
    // Until it says that it counts, it gets everything.
    shell.socket.send('{"ack": 0}')
    shell.type('\r')
    await waitFor(() => shell.bytes > 400 * 1024, 'the first output')
    // What is on its way comes before the answers to these.
    for (let before = -1; before !== shell.bytes;) {
      before = shell.bytes
      for (let turn = 0; turn < 20; turn++)
        await Promise.race([
          new Promise((resolve) => {
            shell.socket.once('pong', resolve)
            shell.socket.ping()
          }),
          shell.closed,
        ])
    }
    expect(shell.bytes).toBeLessThan(1_000_000)
    shell.socket.on('message', () => shell.socket.send(JSON.stringify({ ack: shell.bytes })))
    shell.socket.send(JSON.stringify({ ack: shell.bytes }))
    expect(await shell.closed).toMatchObject({ code: 1000 })
    // And the end of the line that was typed.
    expect(shell.bytes).toBe(3_000_000 + '\r\n'.length)
  })

  test('takes a ticket once, of its own dashboard or a program, and not later', async () => {
    const late = await request(server, 'services/web')
    const opened = await request(server, 'services/web')
    const origin = 'http://attacker.example'
    expect(await refusalOf(socketTo(server, opened, { origin }))).toBe(403)
    expect(await refusalOf(socketTo(server, { ...opened, ticket: late.ticket }))).toBe(401)
    const shell = await connectTo(server, opened)
    expect(await refusalOf(socketTo(server, opened))).toBe(401)
    shell.socket.close()
    await shell.closed
    expect(await refusalOf(socketTo(server, opened))).toBe(401)
    await waitFor(
      async () => (await events('shell.closed')).some(({ changes }) => changes[0] === `shell: ${late.id}`),
      'the end of the other',
    )
    expect(await refusalOf(socketTo(server, late))).toBe(401)
    const own = socketTo(server, await request(server, 'services/web'), { origin: server.url })
    await new Promise((resolve) => own.once('open', resolve))
    own.terminate()
  })

  test.each([
    ['is not JSON', 'resize', 1007],
    ['has a size out of range', '{"resize": [0, 80]}', 1007],
    ['is another message', '{"type": "resize"}', 1007],
  ])('closes after a text that %s', async (_, text, code) => {
    const shell = await openShell(server, 'services/web')
    shell.socket.send(text)
    expect(await shell.closed).toMatchObject({ code })
  })

  test('closes after a message of more than 1 MiB, and takes a long paste in pieces', async () => {
    const shell = await openShell(server, 'services/web', {
      command: 'stty raw -echo; echo go; head -c 2000000 | wc -c',
    })
    await shell.until(/go/)
    for (let piece = 0; piece < 40; piece++) shell.socket.send(Buffer.alloc(50_000, 'a'))
    await shell.until(/2000000/)
    const other = await openShell(server, 'services/web')
    other.socket.send(Buffer.alloc(1024 * 1024 + 1))
    expect(await other.closed).toMatchObject({ code: 1009 })
  })

  test('is refused where there is none, and a sixth one everywhere', async () => {
    await server.api('POST', '/services', { name: 'none', image: 'busybox:1', deploy: false })
    expect(await open('web', { instance: 'srv-4f1d0c9a7b3e5d2f6a80-1a2b3' })).toMatchObject(
      refused(404, /service web has no instance/),
    )
    const opened = []
    for (let at = 0; at < 5; at++) opened.push(await openShell(server, 'services/web'))
    expect(await open('web')).toMatchObject(refused(409, /5 shells are open/))
    for (const shell of opened) await shell.vanish()
    await waitFor(async () => (await open('none')).body.error?.code === 'conflict', 'a free place')
  })

  test('closes at once when the session that opened it ends', async () => {
    const { body } = await browser.post('/services/web/shells', { rows: 24, cols: 80 })
    const shell = await connectTo(server, body)
    await browser.post('/auth/logout')
    expect(await shell.closed).toEqual({
      code: 1008,
      reason: 'the session or API token that opened it is no longer valid',
    })
  })
})

describe('deployer shell', () => {
  /** Runs the client in a terminal of 33 rows; `typed` is what is typed once it shows what is before it. */
  async function onTerminal(words: string, typed: [RegExp, string][] = []) {
    const client = join(dirname(await builtServer()), '../cli/deployer.mjs')
    // Whatever happens to the terminal shows afterwards.
    const line = `stty rows 33 cols 90; ${process.execPath} ${client} ${words}; echo "code $?"; stty -a | grep -o '.icanon'`
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd: tmpdir(),
      env: {
        ...{ PATH: process.env.PATH, TERM: 'xterm', HOME: tmpdir() },
        ...{ DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: server.token },
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
      if (typed[0]?.[0].test(shown)) child.stdin.write(typed.shift()![1])
    })
    await new Promise((resolve) => child.once('close', resolve))
    child.stdin.destroy()
    return shown
  }

  test('types, has the size of its terminal, ends with the exit code and puts the terminal back', async () => {
    const shown = await onTerminal('shell web', [
      [/# /, 'stty size; echo $COLOUR\r'],
      // What is typed before the program runs is read by the shell, as a character.
      [/blue/, 'echo a"t"4; sleep 4001\r'],
      [/at4/, '\u0003'],
      [/\^C[^]*# /, 'exit 5\r'],
    ])
    expect(shown).toMatch(/33 90\r\nblue/)
    expect(shown).toMatch(/code 5\r\n icanon/)
  })

  test('says why it was closed, and puts the terminal back, whatever the program has made of it', async () => {
    const hiding = String.raw`'printf "\033[?1049h\033[?25l ready"; sleep 4002'`
    const ended = onTerminal(`shell web --fresh -- ${hiding}`)
    const container = await waitFor(() => docker('ps', '-q', '--filter', 'name=shl-'), 'the container')
    await waitFor(async () => (await programsIn(container)).includes('sleep 4002'), 'the program')
    await docker('kill', container)
    const shown = await ended
    expect(shown).toContain('ready\u001b[?1049l\u001b[?25h\u001b[0m')
    expect(shown).toMatch(/the shell was closed: its container has stopped\r\ncode 125\r\n icanon/)
  })

  test('without a terminal says what does not need one', async () => {
    const client = join(dirname(await builtServer()), '../cli/deployer.mjs')
    const child = spawn(process.execPath, [client, 'shell', 'web'], { stdio: ['ignore', 'ignore', 'pipe'] })
    let error = ''
    child.stderr.on('data', (text: Buffer) => (error += text.toString()))
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(2)
    expect(error).toBe('deployer: a shell needs a terminal; deployer run runs a command without one\n')
  })
})

describe('a shell in a fresh container', () => {
  test('has the variables and files of the service, and leaves no container', async () => {
    const shell = await openShell(server, 'services/web', { fresh: true })
    const { id } = shell.opened
    expect(shell.opened.container).toBe(id)
    shell.type('echo $COLOUR-$DEPLOYER_INSTANCE_ID; cat /etc/secrets/key; ls /www\r')
    await shell.until(new RegExp(`blue-${id}\r\nthe key.*No such file`, 's'))
    shell.type('exit\r')
    expect(await shell.closed).toMatchObject({ code: 1000 })
    await waitFor(async () => (await docker('ps', '-aq', '--filter', `name=${id}`)) === '', 'no container')
  })

  test('ends with the server, even when that is killed, and is removed at the next start', async () => {
    const fresh = await openShell(server, 'services/web', { fresh: true, command: 'sleep 3001' })
    const inside = await openShell(server, 'services/web', { command: 'sleep 3002' })
    await waitFor(async () => (await programsIn(web)).includes('sleep 3002'), 'the program')
    await server.kill()
    await Promise.all([fresh.closed, inside.closed])
    await waitFor(
      async () => !/sleep 3002|deployer-shell/.test(await programsIn(web)),
      'the end of the program',
    )
    const { id } = fresh.opened
    await waitFor(
      async () => (await docker('ps', '-q', '--filter', `name=${id}`)) === '',
      'the end of the container',
    )
    await server.restart()
    await waitFor(async () => (await docker('ps', '-aq', '--filter', `name=${id}`)) === '', 'no container')
  })
})

describe('what a shell is in', () => {
  test('needs a shell in the image', async () => {
    const bare = 'rm /bin/sh; exec busybox httpd -f -p $PORT -h /'
    const instance = await deploy({ name: 'bare', start_command: bare })
    expect(await open('bare', { instance })).toMatchObject(refused(409, /has no \/bin\/sh/))
    await server.api('DELETE', '/services/bare')
  })

  test('closes it with a reason: an instance that is replaced, a service that is suspended or deleted', async () => {
    const shell = await openShell(server, 'services/web')
    const { body } = await server.api('POST', '/services/web/restart')
    expect(await shell.closed).toEqual({ code: 1001, reason: `instance ${web} was replaced or removed` })
    await endOf(server, body.id)
    const fresh = await openShell(server, 'services/web', { fresh: true })
    const inside = await openShell(server, 'services/web')
    await server.api('POST', '/services/web/suspend')
    for (const each of [fresh, inside])
      expect(await each.closed).toEqual({ code: 1001, reason: 'the service was suspended' })
    expect(await open('web')).toMatchObject(refused(409, /is suspended: resume it first/))
  })
})
