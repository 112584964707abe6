import { manifest, type CorpusTree } from './tree.ts'

const OLDER_PHOENIX = {
  'mix.exs':
    'defmodule Shop.MixProject do\n  def project, do: [app: :shop, aliases: [], deps: deps()]\n  defp deps do\n    [\n      {:phoenix, "~> 1.5.9"},\n    ]\n  end\nend\n',
}

/** Programs of Elixir and Gleam. */
export const ELIXIR: CorpusTree[] = [
  {
    title: 'Phoenix',
    files: {
      'mix.exs':
        'def project do\n  [app: :shop, elixir: "~> 1.15", aliases: aliases()]\nend\ndefp deps do\n  [\n    {:phoenix, "~> 1.8"}\n  ]\nend\ndefp aliases do\n  ["assets.setup": [], "assets.deploy": []]\nend\n',
      'mix.lock': '',
      'config/config.exs': '',
      '.tool-versions': 'erlang 27.2\nelixir 1.17.3-otp-27\n',
    },
    plan: {
      runtime: 'elixir',
      version: '1.17-otp-27',
      framework: 'phoenix',
      startCommand: '/app/release/bin/shop start',
      env: [{ key: 'SECRET_KEY_BASE', generate: 'hex', why: 'Phoenix signs its cookies with it' }],
    },
    dockerfile: [
      'COPY source/mix.exs source/mix.lock ./',
      'COPY source/config ./config',
      'mix deps.compile',
      'mix assets.setup && mix assets.deploy',
    ],
  },
  {
    title: 'Gleam',
    files: { 'gleam.toml': 'name = "shop"\ngleam = ">= 1.4.0"\n', 'manifest.toml': '' },
    plan: {
      runtime: 'gleam',
      buildCommand: 'gleam export erlang-shipment',
      startCommand: '/app/build/erlang-shipment/entrypoint.sh run',
    },
    dockerfile: ['ghcr.io/gleam-lang/gleam:v'],
  },
  {
    title: 'an older Phoenix, whose assets webpack makes',
    files: {
      ...OLDER_PHOENIX,
      'assets/package.json': manifest(
        { deploy: 'webpack --mode production', watch: 'webpack --watch' },
        ['phoenix@file:../deps/phoenix'],
        ['webpack@^4.44.1'],
      ),
      'assets/package-lock.json': { lockfileVersion: 3, packages: {} },
    },
    plan: { runtime: 'elixir', framework: 'phoenix' },
    dockerfile: [
      'FROM node:24-bookworm AS packages',
      'mix compile && (cd assets && npm install --include=dev && npm run deploy && rm -rf node_modules) && mix phx.digest && mix release',
    ],
  },
  {
    title: 'an older Phoenix whose assets are made by what runs no more',
    files: {
      ...OLDER_PHOENIX,
      'assets/package.json': manifest(
        { deploy: 'webpack --mode production' },
        [],
        ['webpack@^4.44.1', 'node-sass@^4.13.1'],
      ),
    },
    plan: { runtime: 'elixir' },
    without: ['node:', 'phx.digest'],
  },
  {
    title: 'an older Phoenix with its assets in the source',
    files: {
      ...OLDER_PHOENIX,
      'assets/package.json': manifest({ deploy: 'webpack --mode production' }, [], ['webpack@^4.44.1']),
      'priv/static/js/app.js': '',
    },
    plan: { runtime: 'elixir' },
    without: ['node:', 'phx.digest'],
  },
  {
    title: 'a Phoenix with a task for its assets',
    files: {
      ...OLDER_PHOENIX,
      'mix.exs': OLDER_PHOENIX['mix.exs'].replace(
        'aliases: []',
        'aliases: ["assets.deploy": ["phx.digest"]]',
      ),
      'assets/package.json': manifest({ deploy: 'webpack' }, [], ['webpack@^5.0.0']),
    },
    plan: { runtime: 'elixir' },
    dockerfile: ['mix assets.deploy'],
    without: ['node:', ' phx.digest'],
  },
]
