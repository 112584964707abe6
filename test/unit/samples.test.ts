import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  holder.close()
  await once(holder, 'close')
  return port
}

test('the server of the samples answers whatever is asked of it, and names its instance', async () => {
  const port = await freePort()
  const env = {
    PORT: String(port),
    DEPLOYER_INSTANCE_ID: 'srv-4f1d0c9a7b3e5d2f6a80-1a2b3',
    GREETING: '<b>Hello',
  }
  const program = spawn(process.execPath, ['samples/server/server.mjs'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void program.kill('SIGKILL'))
  await once(program.stdout, 'data')
  const ask = async (path: string) => {
    const [response] = await once(request({ host: '127.0.0.1', port, path, agent: false }).end(), 'response')
    return { status: response.statusCode as number, text: await text(response) }
  }
  // What scanners ask for.
  for (const path of ['//', '//[', 'http://[/', '*', '/?a=//']) {
    const { status } = await ask(path)
    expect({ path, status }).toEqual({ path, status: path.startsWith('/?') ? 200 : 404 })
  }
  const page = (await ask('/')).text
  expect(page).toContain('<h1>&lt;b>Hello</h1>')
  expect(page).toContain('instance <code>1a2b3</code>')
  program.kill('SIGTERM')
  expect(await once(program, 'exit')).toEqual([0, null])
})
