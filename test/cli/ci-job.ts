import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Step } from '../support/ci-examples.ts'
import { CLIENT, COMPILED, type Outcome, type Place } from './client.ts'

/** What npx does for these words, in a tenth of the time: it fetches the package and runs its program. */
const NPX = `#!/bin/sh
set -eu
[ "$1 $2 $4" = '-y --package deployer' ]
folder=$(mktemp -d "$HOME/npx.XXXXXX")
case $3 in
  http*) curl -fsS "$3" | tar -xz -C "$folder" ;;
  *) tar -xzf "$3" -C "$folder" ;;
esac
shift 4
node "$folder/package/deployer.mjs" "$@"
`

export interface JobOptions {
  /** What was checked out. */
  cwd: string
  /** Set by the CI system. */
  env?: Record<string, string>
  /** Whether the package is fetched by npm itself. */
  hasNpx?: boolean
  /** Programs that come before the system's. */
  programs?: string
}

/** How a job ended, with the outputs that it has set for later steps. */
export interface JobOutcome extends Outcome {
  outputs: string
}

/** Runs the script of a CI job as CI systems do: by a shell that ends at the first command that fails. */
export async function runJob(script: string, options: JobOptions): Promise<JobOutcome> {
  const { cwd, env = {}, hasNpx = false, programs = '' } = options
  const home = mkdtempSync(join(tmpdir(), 'deployer-job-'))
  const outputs = join(home, 'outputs')
  writeFileSync(outputs, '')
  writeProgram(join(home, 'bin/deployer'), `#!/bin/sh\nexec ${process.execPath} ${CLIENT} "$@"\n`)
  if (!hasNpx) writeProgram(join(home, 'bin/npx'), NPX)
  const path = [programs, join(home, 'bin'), dirname(process.execPath), process.env.PATH]
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...COMPILED,
      CI: 'true',
      HOME: home,
      PATH: path.filter((part) => part !== '').join(':'),
      GITHUB_OUTPUT: outputs,
      ...env,
    },
  })
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.error += text))
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? -1)))
  const outcome = { code, ...printed, outputs: readFileSync(outputs, 'utf8') }
  rmSync(home, { recursive: true, force: true })
  return outcome
}

function writeProgram(file: string, script: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, script)
  chmodSync(file, 0o755)
}

/** The variables of a step, whose values are in the settings of the repository. */
export function variablesOf({ env = {} }: Step, settings: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ (?:vars|secrets)\.(\w+) \}\}/g, (_, setting: string) => settings[setting]!),
    ]),
  )
}

/** The settings that docs/ci.md asks for. */
export const settingsFor = ({ url, token }: Place): Record<string, string> => ({
  DEPLOYER_HOST: url,
  DEPLOYER_TOKEN: token,
})

/** The folder of a repository. */
export function checkedOut(files: Record<string, string> = { 'index.html': 'hello' }): string {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-checkout-'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}
