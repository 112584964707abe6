import { onTestFinished } from 'vitest'
import { echoApp } from './apps.ts'
import { ProxyStand, type HttpUpstream } from './stand.ts'

/** Closes something when the running test has finished, the last first. */
export function closing<T extends { close(): unknown }>(started: T): T {
  onTestFinished(async () => void (await started.close()))
  return started
}

/** A data plane for the running test. */
export async function start(...given: Parameters<typeof ProxyStand.start>): Promise<ProxyStand> {
  const stand = await ProxyStand.start(...given)
  onTestFinished(() => stand.stop())
  return stand
}

/** An `echoApp` for the running test. */
export async function app(...given: Parameters<typeof echoApp>): Promise<HttpUpstream> {
  return closing(await echoApp(...given))
}
