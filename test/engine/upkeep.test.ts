import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

/** From when on a failing probe takes an instance out of `running`. */
const FAILING_MS = 1_500

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer({ engine: true, schedule: { failingLeavesAfterMs: FAILING_MS } })
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

/** A web server that exits, or begins to hang, when a file says so; the file is in the container. */
async function create(name: string, run: string, on = server): Promise<string> {
  const repository = await createRepository({
    Dockerfile: 'FROM busybox:1\nCOPY run /run.sh\nCMD ["/run.sh"]\n',
    run: { mode: 0o755, content: `#!/bin/sh\n${run}\n` },
  })
  const { status, body } = await on.api('POST', '/services', { name, repo_url: remote.url(repository) })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(on, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

const SERVE = 'mkdir -p /www && echo up > /www/index.html && exec httpd -f -p $PORT -h /www'

interface InstanceStatus {
  name: string
  state: string
  restarts: number
  reason: string | null
}

async function statusOf(name: string, on = server): Promise<{ state: string; instances: InstanceStatus[] }> {
  return (await on.api('GET', `/services/${name}/status`)).body as {
    state: string
    instances: InstanceStatus[]
  }
}

/** Kills the program and waits until it serves again; returns when the end was seen, by the engine's clock. */
async function crash(name: string, container: string, on = server): Promise<void> {
  const before = (await statusOf(name, on)).instances[0]!.restarts
  await docker('kill', container)
  await waitFor(
    async () => ((await statusOf(name, on)).instances[0]!.restarts > before ? true : null),
    'the end of the program to be counted',
    5_000,
  )
}

describe('a program that exits', () => {
  test("is noticed at once, whatever the engine's list still says, and started again", async () => {
    const id = await create('crasher', SERVE)
    const [container] = await containersOf(id)
    for (let round = 1; round <= 2; round++) {
      await crash('crasher', container!)
      await waitFor(
        async () => ((await fetchFrom(server, 'crasher.localhost')).status === 200 ? true : null),
        'the program to serve again',
      )
    }
    expect((await statusOf('crasher')).instances[0]).toMatchObject({
      state: 'running',
      restarts: 2,
      // Not for memory: the engine did not say so.
      reason: 'the program ended: exit code 137 (it was killed)',
    })
  })

  test(
    'five times in a row makes the state down, is still counted, and serves while it is up',
    { tags: ['slow'] },
    async () => {
      const id = await create('looper', SERVE)
      const [container] = await containersOf(id)
      for (let round = 1; round <= 5; round++) {
        await waitFor(
          async () =>
            (await docker('inspect', '-f', '{{.State.Running}}', container!)) === 'true' ? true : null,
          'the program to be started again',
        )
        await crash('looper', container!)
      }
      await waitFor(
        async () => ((await fetchFrom(server, 'looper.localhost')).status === 200 ? true : null),
        'the program to serve although it counts as down',
      )
      const { state, instances } = await statusOf('looper')
      expect({ state, restarts: instances[0]!.restarts }).toEqual({ state: 'down', restarts: 5 })
    },
  )

  test('together with its container, which was removed from outside, gets a new one', async () => {
    const id = await create('removed', SERVE)
    const [container] = await containersOf(id)
    await docker('rm', '-f', container!)
    await waitFor(
      async () => ((await fetchFrom(server, 'removed.localhost')).status === 200 ? true : null),
      'a new container to serve',
    )
    expect((await statusOf('removed')).instances[0]!.reason).toMatch(/killed|removed externally/)
  })
})

describe('a service whose instance is coming up', () => {
  test('is deleted without waiting for it', async () => {
    // Serves at first; after a crash it never listens again.
    const id = await create('hanging', `[ -e /once ] && exec sleep 3600\ntouch /once\n${SERVE}`)
    const [container] = await containersOf(id)
    await crash('hanging', container!)
    await waitFor(
      async () =>
        (await docker('inspect', '-f', '{{.State.Running}}', container!)) === 'true' ? true : null,
      'the program to be started again',
    )
    const began = performance.now()
    expect((await server.api('DELETE', '/services/hanging')).status).toBe(204)
    // Its program ignores SIGTERM, so that a grace period passes; waiting for it to come up would take minutes.
    expect(performance.now() - began).toBeLessThan(55_000)
    expect(await containersOf(id)).toEqual([])
  })

  test('is scaled to 0 and suspended without waiting for it', { tags: ['slow'] }, async () => {
    const crashPauseMs = 60_000
    const patient = await startServer({ engine: true, schedule: { crashPauseMs } })
    try {
      const id = await create('waiting', SERVE, patient)
      const [container] = await containersOf(id)
      await crash('waiting', container!, patient)
      expect((await patient.api('POST', '/services/waiting/suspend')).body.state).toBe('suspended')
      await waitFor(
        async () => ((await containersOf(id)).length === 0 ? true : null),
        'the container to be gone before its next start is due',
        crashPauseMs - 10_000,
      )
    } finally {
      await patient.stop()
    }
  })
})

/** Answers after 20 seconds, and ignores SIGTERM. */
const SERVE_SLOWLY = `trap '' TERM
mkdir -p /www/cgi-bin
cat > /www/cgi-bin/slow <<'END'
#!/bin/sh
sleep 20
printf 'Content-Type: text/plain\\n\\ndone'
END
chmod +x /www/cgi-bin/slow
exec httpd -f -p $PORT -h /www`

test('an instance that is replaced gets the time that its service allows, for its requests and to stop', async () => {
  const id = await create('hasty', SERVE_SLOWLY)
  const [container] = await containersOf(id)
  const answer = fetchFrom(server, 'hasty.localhost', '/cgi-bin/slow').then(
    ({ status }) => status,
    () => 'cut',
  )
  await waitFor(async () => (await docker('top', container!)).includes('sleep 20') || null, 'the request')
  await server.api('PATCH', '/services/hasty', { drain_seconds: 0, max_shutdown_delay_seconds: 1 })
  const since = await now()
  const restart = await server.api('POST', '/services/hasty/restart')
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live' })
  expect(await answer).not.toBe(200)
  await waitFor(async () => !(await containersOf(id)).includes(container!) || null, 'its end')
  const [asked, killed] = await signalsTo(container!, since)
  expect([asked!.signal, killed!.signal]).toEqual(['15', '9'])
  // The server under test allows five at most.
  expect(killed!.seconds - asked!.seconds).toBeLessThan(4)
})

/** The time of the engine. */
function now(): Promise<string> {
  return docker('info', '--format', '{{.SystemTime}}')
}

/** The signals that a container got since a time of the engine, and when. */
async function signalsTo(container: string, since: string): Promise<{ signal: string; seconds: number }[]> {
  const filters = ['--filter', `container=${container}`, '--filter', 'event=kill']
  const format = ['--format', '{{.Actor.Attributes.signal}} {{.TimeNano}}']
  const lines = await docker('events', '--since', since, '--until', await now(), ...filters, ...format)
  return lines.split('\n').map((line) => {
    const [signal, nanoseconds] = line.split(' ')
    return { signal: signal!, seconds: Number(nanoseconds) / 1e9 }
  })
}

test('a health path takes effect with the deploy that brings it, not before', async () => {
  await create('probed', SERVE)
  await server.api('PATCH', '/services/probed', { health_check_path: '/not-there' })
  await delay(3 * FAILING_MS)
  expect((await statusOf('probed')).instances[0]).toMatchObject({ state: 'running', restarts: 0 })
})
