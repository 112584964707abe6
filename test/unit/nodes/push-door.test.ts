import { once } from 'node:events'
import { createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { PushDoor, type PushTarget } from '#daemon/nodes/push-door.ts'

/** A door to something that says how much it got. */
const door = () =>
  new PushDoor((request, response) => {
    void buffer(request).then((body) => response.end(`${request.method} ${body.length}`))
  })

const showing = ({ username, password }: Pick<PushTarget, 'username' | 'password'>) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

test('the engine gets in with the password that it is told, once it was asked for it', async () => {
  await door().during(async (target) => {
    const url = `http://${target.host}/v2/`
    const asking = await fetch(url)
    expect([asking.status, asking.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="deployer"'])
    const body = Buffer.alloc(100_000)
    const answer = await fetch(url, { method: 'PATCH', body, headers: showing(target) })
    expect([answer.status, await answer.text()]).toEqual([200, 'PATCH 100000'])
  })
})

test('nobody gets in with another password, nor with that of an earlier push', async () => {
  const kept = door()
  const earlier = await kept.during(async (target) => target)
  await kept.during(async (target) => {
    // An engine knows by the host what it has pushed there.
    expect(target.host).toBe(earlier.host)
    expect(target.password).not.toBe(earlier.password)
    const wrong = [earlier, { ...target, password: '' }, { ...target, password: `${target.password}x` }]
    for (const shown of wrong)
      expect((await fetch(`http://${target.host}/v2/_catalog`, { headers: showing(shown) })).status).toBe(401)
  })
})

test('it is closed when the push has ended, also by a failure', async () => {
  const kept = door()
  let target: PushTarget | undefined
  const push = kept.during(async (told) => {
    target = told
    throw new Error('the engine went away')
  })
  await expect(push).rejects.toThrow('the engine went away')
  await expect(fetch(`http://${target!.host}/v2/`, { headers: showing(target!) })).rejects.toThrow()
})

test('it takes another port when a program has its own', async () => {
  const kept = door()
  const { host } = await kept.during(async (target) => target)
  const program = createServer().listen(Number(host.split(':')[1]), '127.0.0.1')
  await once(program, 'listening')
  try {
    expect(await kept.during(async (target) => target.host)).not.toBe(host)
  } finally {
    program.close()
  }
})
