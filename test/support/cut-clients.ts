import { afterEach, beforeEach } from 'vitest'
import { startClient, type ClientOptions, type Place, type Running } from '../cli/client.ts'
import { openCuttingProxy, type CuttingProxy } from './cutting-proxy.ts'

/** Clients of a server whose connections a test can cut. */
export interface CutClients {
  /** What stands in front of the server; another one for each test. */
  readonly proxy: CuttingProxy
  /** Starts a client that ends with its test. */
  readonly start: (...words: string[]) => Running
  readonly startWith: (options: ClientOptions, ...words: string[]) => Running
}

/** Gives each test of the file a proxy in front of the server, and ends what the test leaves behind. */
export function clientsBehindProxy(server: () => Place): CutClients {
  let proxy: CuttingProxy
  const running = new Set<Running>()
  beforeEach(async () => {
    proxy = await openCuttingProxy(server().url)
  })
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    running.clear()
    await proxy.close()
  })

  function startWith(options: ClientOptions, ...words: string[]): Running {
    const started = startClient({ url: proxy.url, token: server().token }, words, options)
    running.add(started)
    return started
  }
  return {
    get proxy() {
      return proxy
    },
    start: (...words) => startWith({}, ...words),
    startWith,
  }
}
