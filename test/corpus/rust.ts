import { expect } from 'vitest'
import { containing, type CorpusTree } from './tree.ts'

const withoutQueries = (): string[] =>
  expect.not.arrayContaining([expect.stringContaining('queries')]) as string[]

const CRATES = { 'Cargo.toml': '[workspace]\nmembers = ["*"]\n' }

const crateWith = (name: string, dependency: string): CorpusTree['files'] => ({
  [`${name}/Cargo.toml`]: `[package]\nname = "${name}"\n[dependencies]\n${dependency} = "1"\n`,
  [`${name}/src/main.rs`]: '',
})

const TWELVE = [...'abcdefghijk', 'server']

const crate = (name: string, dependencies = ''): CorpusTree['files'] => ({
  [`${name}/Cargo.toml`]: `[package]\nname = "${name}"\n[dependencies]\n${dependencies}`,
  [`${name}/src/main.rs`]: 'fn main() {}\n',
})

const WORKSPACE = { 'Cargo.toml': '[workspace]\nmembers = ["*"]\n' }

/** Programs of Rust. */
export const RUST: CorpusTree[] = [
  {
    title: 'Rust with Axum',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\naxum = "0.8"\nreqwest = "0.12"\n',
      'Cargo.lock': '',
      'src/main.rs': '',
    },
    plan: {
      runtime: 'rust',
      version: '1',
      framework: 'axum',
      startCommand: '/app/bin/shop',
      buildCommand: 'cargo build --release --locked',
    },
    dockerfile: ['target=/app/target', 'libssl3', 'FROM rust:1-bookworm AS build'],
  },
  {
    title: 'Rust with a pinned toolchain and Rocket',
    files: {
      'Cargo.toml': '[package]\nname = "hello"\ndefault-run = "web"\n[dependencies]\nrocket = "0.5"\n',
      'rust-toolchain.toml': '[toolchain]\nchannel = "1.85.0"\n',
    },
    plan: { runtime: 'rust', version: '1.85', framework: 'rocket', startCommand: '/app/bin/web' },
    dockerfile: ['ROCKET_ADDRESS=0.0.0.0'],
  },
  {
    title: 'Rust whose queries are checked against a database',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\naxum = "0.8"\nsqlx = "0.8"\n',
      'src/main.rs': 'fn main() {}\n',
      'src/prices.rs': '    let all = sqlx::query_as!(Price, "SELECT * FROM prices")\n',
      '.env': 'DATABASE_URL=postgres://localhost/shop\n',
    },
    plan: {
      runtime: 'rust',
      obstacle: null,
      notes: expect.arrayContaining([
        expect.stringContaining('src/prices.rs has queries that sqlx checks against a database'),
      ]) as string[],
    },
  },
  ...['.sqlx/query-1.json', 'sqlx-data.json'].map((kept): CorpusTree => ({
    title: `Rust whose queries were checked beforehand, by ${kept}`,
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': '    sqlx::query!("SELECT 1")\n',
      [kept]: '{}',
    },
    plan: {
      runtime: 'rust',
      notes: withoutQueries(),
    },
  })),
  {
    title: 'Rust with queries of sqlx in a comment and in tests',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': '    // sqlx::query!("SELECT 1")\n',
      'tests/prices.rs': '    sqlx::query!("SELECT 1")\n',
    },
    plan: { runtime: 'rust', notes: withoutQueries() },
  },
  {
    title: 'Rust whose queries are checked against a file of the tree',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': '    sqlx::query!("SELECT 1")\n',
      '.env': 'DATABASE_URL="sqlite:shop.db"\n',
    },
    plan: {
      runtime: 'rust',
      notes: withoutQueries(),
    },
  },
  {
    title: 'a workspace of Rust with one program',
    files: {
      'Cargo.toml': '[workspace]\nmembers = [\n    "crates/*", # all of them\n]\nresolver = "2"\n',
      'crates/shop/Cargo.toml': '[package]\nname = "shop"\n[dependencies]\naxum.workspace = true\n',
      'crates/shop/src/main.rs': '',
      'crates/words/Cargo.toml': '[package]\nname = "words"\n',
      'crates/words/src/lib.rs': '',
    },
    plan: { runtime: 'rust', framework: 'axum', startCommand: '/app/bin/shop', obstacle: null },
  },
  {
    title: 'a workspace of Rust with several programs',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["a", "b"]\n',
      'a/Cargo.toml': '[package]\nname = "a"\n',
      'a/src/main.rs': '',
      'b/Cargo.toml': '[package]\nname = "b"\n[[bin]]\nname = "c"\npath = "src/main.rs"\n',
      'b/src/main.rs': '',
    },
    plan: {
      runtime: 'rust',
      startCommand: null,
      obstacle:
        'nothing says how to start this service: there are several programs (a, c): add a Procfile with a line "web:", such as /app/bin/a, or set start_command',
    },
  },
  {
    title: 'a program of Rust with a book',
    files: {
      'book.toml': '[book]\n',
      'Cargo.toml': '[package]\nname = "app"\n',
      'src/main.rs': '',
      'src/SUMMARY.md': '',
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/app' },
  },
  {
    title: 'a bot of Rust whose package is a table',
    files: {
      'Cargo.toml': '[package]\nname = "bot"\n\n[dependencies.serenity]\nversion = "0.12"\n',
      'src/main.rs': 'fn main() {}\n',
    },
    plan: { runtime: 'rust', isWorker: true },
  },
  {
    title: 'a workspace of Rust whose server has its framework for some systems alone, in a table',
    files: {
      ...CRATES,
      ...crateWith('cli', 'clap'),
      'shop/Cargo.toml':
        '[package]\nname = "shop"\n[target.\'cfg(unix)\'.dependencies.axum]\nversion = "0.8"\n[dev-dependencies]\nrocket = "1"\n',
      'shop/src/main.rs': '',
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/shop' },
  },
  {
    title: 'a workspace of Rust of which two programs serve',
    files: { ...CRATES, ...crateWith('admin', 'axum'), ...crateWith('shop', 'rocket') },
    plan: { runtime: 'rust', startCommand: null },
  },
  {
    title: 'a workspace of Rust whose server names no framework',
    files: {
      ...CRATES,
      ...crateWith('server', 'tokio'),
      ...crateWith('proxy', 'hyper'),
      ...crateWith('demo', 'axum'),
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/server' },
  },
  {
    title: 'a workspace of Rust with many programs, one of which is the server',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["*"]\n',
      ...Object.fromEntries(
        TWELVE.flatMap((name) => [
          [`${name}/Cargo.toml`, `[package]\nname = "${name}"\n`],
          [`${name}/src/main.rs`, ''],
        ]),
      ),
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/server' },
  },
  {
    title: 'a workspace of Rust of which one program serves in its tests alone',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["*"]\n[workspace.dependencies]\naxum = "0.8"\n',
      'a/Cargo.toml': '[package]\nname = "a"\n[dependencies]\nclap = "4"\n[dev-dependencies]\naxum = "0.8"\n',
      'a/src/main.rs': '',
      'b/Cargo.toml': '[package]\nname = "b"\n[dependencies]\nclap = "4"\n',
      'b/src/main.rs': '',
    },
    plan: { runtime: 'rust', startCommand: null, obstacle: containing('there are several programs (a, b)') },
  },
  {
    title: 'a workspace of Rust of which one program serves',
    files: {
      ...WORKSPACE,
      ...crate('cli', 'clap = "4"\n'),
      ...crate('shop', 'axum = "0.8"\n'),
      ...crate('import'),
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/shop', obstacle: null },
  },
]
