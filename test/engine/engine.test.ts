import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '#daemon/engine/index.ts'
import { readOutput } from '#daemon/logs/output.ts'
import { standEngine } from '../support/stand-setup.ts'
import { all, never, openBench, tarOf, type Bench, memoryLedger } from './engine-support.ts'

const MIB = 1024 * 1024

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

/** Waits until the container has printed a line that contains the text. */
async function untilPrinted(name: string, wanted: string): Promise<void> {
  for await (const { line } of bench.engine.output.logs(name, { follow: true, signal: never() })) {
    if (line.includes(wanted)) return
  }
  throw new Error(`${name} ended without printing ${wanted}`)
}

describe('a container', () => {
  test('gets its variables byte for byte', async () => {
    const env = {
      PLAIN: 'x',
      QUOTED: `a "b" 'c' $HOME \\n`,
      LINES: 'one\ntwo\n',
      UNICODE: 'žluťoučký 🐎',
      EMPTY: '',
    }
    const lines = await bench.output('printf "%s|" "$PLAIN" "$QUOTED" "$LINES" "$UNICODE" "$EMPTY"', { env })
    expect(lines.map(({ line }) => line).join('\n')).toBe(`${Object.values(env).join('|')}|`)
  })

  test('has its limits, no new privileges, an init process and no way to gain privileges from the image', async () => {
    const command = `cat /proc/1/comm; grep -E 'NoNewPrivs' /proc/self/status; nproc`
    const lines = await bench.output(command, { memoryBytes: 32 * MIB, cpus: 0.5 })
    expect(lines.map(({ line }) => line).join('\n')).toMatch(
      /(docker-init|podman-init|catatonit|tini)\nNoNewPrivs:\s+1/,
    )
  })

  test('has the rights that entry points need, and no others', async () => {
    const command = [
      'touch /tmp/file && chown nobody /tmp/file && chmod 600 /tmp/file',
      'su -s /bin/sh nobody -c "id -un; cat /tmp/file && echo read"',
      // What it says about the refusal could be anywhere among the lines: two outputs have no order between them.
      'mknod /tmp/device b 7 0 2>/dev/null || echo no devices',
      'grep CapBnd /proc/self/status; ulimit -n',
    ].join('; ')
    const lines = (await bench.output(command)).map(({ line }) => line)
    expect(lines).toEqual(expect.arrayContaining(['nobody', 'read', 'no devices']))
    const bounding = BigInt(`0x${/CapBnd:\s+(\w+)/.exec(lines.join('\n'))![1]}`)
    const has = (bit: bigint) => (bounding & (1n << bit)) !== 0n
    // capability.h: CHOWN, SETUID; then NET_RAW, SYS_ADMIN, MKNOD, AUDIT_WRITE.
    expect([0n, 7n].map(has)).toEqual([true, true])
    expect([13n, 21n, 27n, 29n].map(has)).toEqual([false, false, false, false])
    expect(['65536', '16384']).toContain(lines.at(-1))
  })

  test('that uses more memory than it may is killed, and its state says so', async () => {
    // The watch on a container's memory begins just after its program.
    const name = await bench.run('sleep 1; dd if=/dev/zero of=/dev/null bs=200M count=1; sleep 1; exit 7', {
      memoryBytes: 16 * MIB,
    })
    const { oomKilled } = await bench.engine.containers.wait(name, never())
    expect(oomKilled).toBe(true)
    expect(await bench.engine.containers.inspect(name)).toMatchObject({ running: false, oomKilled: true })
  })

  test('gets no more CPUs than the host has', async () => {
    await expect(bench.output('echo ran', { cpus: 4_096 })).resolves.toMatchObject([{ line: 'ran' }])
  })

  test('cannot start more processes than it may', async () => {
    const lines = await bench.output('for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5 & done; wait', {
      pidsLimit: 8,
    })
    expect(lines.map(({ line }) => line).join()).toMatch(/fork/)
  })

  test('has the requested address and is found by its aliases', async () => {
    const address = `${bench.prefix}77`
    const server = await bench.run('echo hello > /index.html; httpd -f -p 8080 -h /', {
      address,
      aliases: ['web'],
    })
    expect(await bench.engine.containers.inspect(server)).toMatchObject({ address, running: true })
    const lines = await bench.output(
      'for i in 1 2 3 4 5; do wget -qO- http://web:8080/ && exit; sleep 1; done',
    )
    expect(lines.at(-1)?.line).toBe('hello')
  })

  test('can be reached by a port published on loopback', async () => {
    const name = await bench.run('echo hi > /index.html; httpd -p 9000 -h /; echo up; sleep 600', {
      ports: [{ inside: 9_000 }],
    })
    await untilPrinted(name, 'up')
    const port = (await bench.engine.containers.inspect(name))!.publishedPort!
    const [listed] = (await bench.engine.containers.list({})).filter((state) => state.name === name)
    expect(listed?.publishedPort).toBe(port)
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hi\n')
  })

  test('keeps what it wrote to its volume', async () => {
    const volume = `${bench.serverId}-disk`
    await bench.engine.volumes.create(volume, {})
    await bench.engine.volumes.create(volume, {})
    try {
      await bench.output('echo kept > /data/file', { volumes: [{ name: volume, path: '/data' }] })
      const lines = await bench.output('cat /data/file', { volumes: [{ name: volume, path: '/data' }] })
      expect(lines).toMatchObject([{ line: 'kept' }])
    } finally {
      await bench.engine.volumes.remove(volume)
    }
    await bench.engine.volumes.remove(volume)
    expect(await bench.engine.volumes.inspect(volume)).toBeNull()
  })

  test('accepts and returns files as tar', async () => {
    const { name } = bench.spec('cat /srv/note; sleep 60')
    await bench.engine.containers.create(bench.spec('cat /etc/note', { name }))
    await bench.engine.containers.putArchive(name, '/etc', tarOf({ note: 'from outside' }))
    await bench.engine.containers.start(name)
    await bench.engine.containers.wait(name, never())
    const lines = await all(bench.engine.output.logs(name, { signal: never() }))
    expect(lines).toMatchObject([{ line: 'from outside' }])
    expect(await text((await bench.engine.containers.getArchive(name, '/etc/note'))!)).toContain(
      'from outside',
    )
  })
})

describe('the life of a container', () => {
  test('is reported by its state, its exit code and the lists', async () => {
    const spec = bench.spec('exit 3', { labels: { colour: 'red' } })
    await bench.engine.containers.create(spec)
    expect(await bench.engine.containers.inspect(spec.name)).toMatchObject({ running: false, exitCode: null })
    await bench.engine.containers.start(spec.name)
    expect(await bench.engine.containers.wait(spec.name, never())).toEqual({ exitCode: 3, oomKilled: false })
    const listed = await bench.engine.containers.list({ colour: 'red' })
    expect(listed).toMatchObject([
      { name: spec.name, running: false, exitCode: 3, labels: { colour: 'red' } },
    ])
    expect(await bench.engine.containers.list({ colour: 'blue' })).toEqual([])
  })

  test('allows being started, stopped and removed twice', async () => {
    const name = await bench.run('sleep 600')
    await bench.engine.containers.start(name)
    await bench.engine.containers.stop(name, 0)
    await bench.engine.containers.stop(name, 0)
    await bench.engine.containers.kill(name)
    await bench.engine.containers.remove(name)
    await bench.engine.containers.remove(name)
    await bench.engine.containers.stop(name, 0)
    expect(await bench.engine.containers.inspect(name)).toBeNull()
  })

  test('ends with SIGTERM if the program reacts, and with SIGKILL after the grace period if not', async () => {
    const kind = await bench.run(`trap 'exit 5' TERM; echo up; while true; do sleep 0.1; done`)
    const stubborn = await bench.run(`trap '' TERM; echo up; while true; do sleep 0.1; done`)
    await Promise.all([untilPrinted(kind, 'up'), untilPrinted(stubborn, 'up')])
    await Promise.all([bench.engine.containers.stop(kind, 30), bench.engine.containers.stop(stubborn, 1)])
    expect(await bench.engine.containers.inspect(kind)).toMatchObject({ exitCode: 5 })
    expect(await bench.engine.containers.inspect(stubborn)).toMatchObject({ exitCode: 137 })
  })

  test('is asked to end until it reacts, if requested', async () => {
    const deaf = `trap '' TERM; echo deaf; sleep 3; trap 'exit 5' TERM; while true; do sleep 0.1; done`
    const name = await bench.run(deaf)
    await untilPrinted(name, 'deaf')
    await bench.engine.containers.stop(name, 120, { again: true })
    expect(await bench.engine.containers.inspect(name)).toMatchObject({ exitCode: 5 })
  })

  test('waits no longer than the signal', async () => {
    const name = await bench.run('sleep 600')
    const reason = new Error('enough')
    const controller = new AbortController()
    const waiting = bench.engine.containers.wait(name, controller.signal)
    setTimeout(() => controller.abort(reason), 50)
    await expect(waiting).rejects.toBe(reason)
  })

  test('names a program that the image lacks in its output and ends with 127', async () => {
    const spec = bench.spec('', { command: ['no-such-program'] })
    const [line] = await bench.output('', { ...spec })
    expect(line?.line).toContain('no-such-program')
    const name = await bench.run('', { command: ['no-such-program'] })
    expect(await bench.engine.containers.wait(name, never())).toMatchObject({ exitCode: 127 })
  })

  test('does not begin with an image that the engine lacks or a name that is taken', async () => {
    const missing = bench.spec('true', { image: 'no-such-image:1' })
    await expect(bench.engine.containers.create(missing)).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('no-such-image:1'),
    })
    const name = await bench.run('sleep 600')
    await expect(bench.engine.containers.create(bench.spec('true', { name }))).rejects.toMatchObject({
      code: 'runtime_error',
    })
  })
})

describe('the containers of another server', () => {
  test('are neither listed nor stopped nor removed', async () => {
    const name = await bench.run('sleep 600')
    const other = createEngine({
      dockerHost: standEngine(),
      serverId: 'another-server',
      ledger: memoryLedger(),
    })
    expect((await other.containers.list({})).map((state) => state.name)).not.toContain(name)
    for (const attempt of [
      () => other.containers.stop(name, 0),
      () => other.containers.kill(name),
      () => other.containers.remove(name),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'runtime_error' })
    }
    expect(await bench.engine.containers.inspect(name)).toMatchObject({ running: true })
  })
})

describe('the output of a container', () => {
  test('that has ended is read to its end, however slowly', async () => {
    const name = await bench.run('seq 1 60000')
    await bench.engine.containers.wait(name, never())
    let read = 0
    for await (const lines of readOutput(bench.engine, name, { untilEnd: true, signal: never() })) {
      if (read === 0) await delay(3_000)
      read += lines.length
    }
    expect(read).toBe(60_000)
  })

  test('comes as lines in order, each with its stream and time', async () => {
    const lines = await bench.output('echo one; sleep 0.3; echo two >&2; sleep 0.3; printf three')
    expect(lines.map(({ stream, line }) => [stream, line])).toEqual([
      ['stdout', 'one'],
      ['stderr', 'two'],
      ['stdout', 'three'],
    ])
    const times = lines.map(({ ts }) => ts)
    expect(times).toEqual([...times].sort())
    expect(Date.parse(times[0]!)).not.toBeNaN()
  })

  test('joins a line that the engine keeps in pieces, and cuts one that is too long', async () => {
    const lines = await bench.output(
      `awk 'BEGIN { for (i = 0; i < 15000; i++) printf "a"; print "é"; for (i = 0; i < 100000; i++) printf "b"; print ""; print "end" }'`,
    )
    expect(lines.map(({ line }) => line.length)).toEqual([15_001, 16_384, 3])
  })

  test('is available from a moment on, or only its end', async () => {
    const name = await bench.run('for i in 1 2 3 4 5; do echo $i; sleep 0.05; done')
    await bench.engine.containers.wait(name, never())
    const read = (more: { since?: string; tail?: number }) =>
      all(bench.engine.output.logs(name, { ...more, signal: never() }))
    const lines = await read({})
    expect((await read({ tail: 2 })).map(({ line }) => line)).toEqual(['4', '5'])
    const later = await read({ since: lines[2]!.ts })
    expect(later.filter(({ ts }) => ts > lines[2]!.ts).map(({ line }) => line)).toEqual(['4', '5'])
    expect(later.map(({ line }) => line)).not.toContain('2')
  })

  test('is followed until the program ends', async () => {
    const name = await bench.run('for i in 1 2 3; do echo $i; sleep 0.2; done')
    const lines = await all(bench.engine.output.logs(name, { follow: true, signal: never() }))
    expect(lines.map(({ line }) => line)).toEqual(['1', '2', '3'])
  })

  test('ends quietly when the signal aborts or the reader leaves', async () => {
    const name = await bench.run('while true; do echo again; sleep 0.02; done')
    const controller = new AbortController()
    let count = 0
    for await (const { line } of bench.engine.output.logs(name, {
      follow: true,
      signal: controller.signal,
    })) {
      expect(line).toBe('again')
      if (++count === 5) controller.abort()
    }
    for await (const _ of bench.engine.output.logs(name, { follow: true, signal: never() })) break
    expect(await all(bench.engine.output.logs(name, { signal: AbortSignal.abort() }))).toEqual([])
  })

  test('loses nothing to a slow reader while the engine keeps it', async () => {
    const name = await bench.run(`seq 1 20000; echo end; sleep 600`)
    let next = 1
    for await (const { line } of bench.engine.output.logs(name, { follow: true, signal: never() })) {
      if (line === 'end') break
      expect(line).toBe(String(next++))
      if (next % 5_000 === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(next).toBe(20_001)
  })

  test('of a missing container is a runtime_error', async () => {
    const logs = bench.engine.output.logs('no-such-container', { signal: never() })
    await expect(all(logs)).rejects.toMatchObject({ code: 'runtime_error' })
  })
})

describe('what a container does', () => {
  test('is measured, with its limits', async () => {
    const name = await bench.run('while true; do :; done', { cpus: 0.5 })
    const { usages } = bench.engine
    const limits = { signal: never(), timeoutMs: 10_000 }
    const container = (await usages.running(10_000)).find((each) => each.name === name)!
    const first = (await usages.read(container, limits))!
    const began = performance.now()
    expect(first).toMatchObject({ cpuLimit: 0.5, memoryLimitBytes: 64 * MIB })
    expect(first.memoryBytes).toBeGreaterThan(0)
    await delay(1_000)
    const seconds = (performance.now() - began) / 1_000
    const second = (await usages.read(container, limits))!
    const share = (second.cpuSeconds - first.cpuSeconds) / seconds
    expect(share).toBeGreaterThan(0.05)
    expect(share).toBeLessThan(1)
    await bench.engine.containers.stop(name, 0)
    // It was listed before it ended.
    expect(await usages.read(container, limits)).toBeNull()
    expect((await usages.running(10_000)).map((each) => each.name)).not.toContain(name)
    expect(await usages.read({ id: 'f'.repeat(64), name: 'no-such-container' }, limits)).toBeNull()
  })

  test('gets new limits in place', async () => {
    const limits = '/sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max'
    const name = await bench.run(`while sleep 0.1; do cat ${limits} 2>/dev/null; done`, {
      memoryBytes: 32 * MIB,
      cpus: 0.5,
    })
    await untilPrinted(name, String(32 * MIB))
    await bench.engine.containers.update(name, { memoryBytes: 48 * MIB, cpus: 1 })
    await expect(untilPrinted(name, String(48 * MIB))).resolves.toBeUndefined()
  })

  test('shows the ports it listens on, and which of them only it can reach', async () => {
    const name = await bench.run('httpd -p 8081; httpd -p 127.0.0.1:8082; echo up; sleep 600')
    await untilPrinted(name, 'up')
    expect(await bench.engine.containers.listeners(name)).toEqual([
      { port: 8_081, host: expect.stringMatching(/^(0\.0\.0\.0|\[::\])$/), isLoopback: false },
      { port: 8_082, host: '127.0.0.1', isLoopback: true },
    ])
    await bench.engine.containers.stop(name, 0)
    expect(await bench.engine.containers.listeners(name)).toBeNull()
  })
})
