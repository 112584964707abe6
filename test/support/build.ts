import { ensureTestBuild } from '../../scripts/lib/build.mjs'

/** The variable with which a set-up tells its workers which build they test. */
const VARIABLE = 'DEPLOYER_TEST_ENTRY'

/** The file that runs the server under test; built if the sources have changed since the last build. */
export async function builtServer(): Promise<string> {
  return (process.env[VARIABLE] ??= await ensureTestBuild(process.execPath))
}

/** Vitest's global set-up of the suites that test the built server: it is built once, before the first of them. */
export default async function setup(): Promise<void> {
  await builtServer()
}
