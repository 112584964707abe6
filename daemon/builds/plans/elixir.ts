import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { findInLines, hasLine } from '../text.ts'
import { nodeTools } from './node-tools.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseCommand, runOf } from './start.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** Releases of Mix projects, Phoenix among them. */
export const elixir: LanguagePlan = {
  name: 'elixir',
  lookedFor: 'mix.exs',
  detect: (tree) => tree.hasFile('mix.exs'),
  plan: makePlan,
}

const DEFAULT_VERSION = '1.18'
const CACHES = ['/root/.hex', '/root/.cache']

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const project = (await tree.readText('mix.exs')) ?? ''
  const version =
    findInLines((await tree.readText('.tool-versions')) ?? '', /^elixir[ \t]+(1\.\d+)/) ?? DEFAULT_VERSION
  const name = /\breleases:\s*\[\s*(\w+):/.exec(project)?.[1] ?? /\bapp:\s*:(\w+)/.exec(project)?.[1]
  if (name === undefined && settings.buildCommand === null && settings.processType !== 'static') {
    throw new BuildFailure(
      'mix.exs names no application with "app:": add it, or set build_command and start_command',
    )
  }
  const startCommand = await chooseCommand(
    tree,
    settings,
    notes,
    settings.buildCommand === null ? `/app/release/bin/${name} start` : null,
    'build_command is set, so nothing says what it makes: add a Procfile with a line "web:"',
  )
  const hasAssets = /"assets\.deploy"/.test(project)
  const build =
    settings.buildCommand ??
    `mix compile${hasAssets ? ' && mix assets.deploy' : ''} && mix release --overwrite --path /app/release`
  // Packages need Hex, and those in Erlang rebar; a project without packages does with neither.
  const hasPackages = (await tree.hasFile('mix.lock')) || hasLine(project, /^\s*\{:\w+,/)
  const image = baseImage(settings, `elixir:${version}-slim`)
  const dockerfile = [
    ...buildStage(image),
    'ENV MIX_ENV=prod LANG=C.UTF-8',
    'COPY source/ ./',
    ...(hasPackages
      ? [
          'RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends build-essential git ca-certificates >/dev/null && rm -rf /var/lib/apt/lists/*',
          step(
            'mix local.hex --force && mix local.rebar --force && mix deps.get --only prod',
            settings,
            CACHES,
          ),
        ]
      : []),
    ...(await nodeTools(tree, settings, notes)),
    ...buildCommandSteps(build, settings, CACHES),
    // The same image, so that the release finds the libraries that its runtime was built with.
    ...finalStage(image, [takeApp(), 'ENV MIX_ENV=prod LANG=C.UTF-8 PHX_SERVER=true'], startCommand),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version,
    framework: hasAssets ? 'phoenix' : null,
    packageManager: 'mix',
    installCommand: hasPackages ? 'mix deps.get --only prod' : null,
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: null,
    ignore: ['.git', '**/node_modules', '_build', 'deps'],
    notes: [`elixir ${version}`, ...notes],
  }
}
