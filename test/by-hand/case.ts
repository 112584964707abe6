/** A small tree, how it is deployed, and the commands that build and start it by hand. */
export interface ByHandCase {
  /** What holds by hand, so what a deploy must give: a sentence. */
  title: string
  /** Paths with their contents; objects other than bytes are written as JSON. */
  files: Record<string, string | object>
  /** Those of them that may be executed. */
  executable?: string[]
  /** Fields of the service besides its name and source. */
  fields?: object
  /** Where the commands run, as root and in /app. */
  place: Place
  /** Installs and builds. */
  commands: string
  start: string
  /** Whether it is the one of its kind that runs in the first tier. */
  isFirst?: true
}

/** A base image and what is installed there before the code comes, by npm and in this order. */
export interface Place {
  image: string
  packages: string[]
}

const NODE_IMAGE = 'node:24-bookworm-slim'

/** The same versions for both sides: `packageManager` names them too. */
export const PNPM_10 = 'pnpm@10.34.9'
export const PNPM_9 = 'pnpm@9.15.9'
export const YARN_1 = 'yarn@1.22.22'
export const YARN_4 = 'yarn@4.18.1'
export const BUN = 'bun@1'

export const WITH_NPM: Place = { image: NODE_IMAGE, packages: [] }
export const WITH_PNPM_10: Place = { image: NODE_IMAGE, packages: [PNPM_10] }
export const WITH_PNPM_9: Place = { image: NODE_IMAGE, packages: [PNPM_9] }
export const WITH_YARN_1: Place = { image: NODE_IMAGE, packages: [YARN_1] }
export const WITH_YARN_4: Place = { image: NODE_IMAGE, packages: [`@yarnpkg/cli-dist@${YARN_4.slice(5)}`] }
export const WITH_BUN: Place = { image: NODE_IMAGE, packages: [`--allow-scripts=bun ${BUN}`] }
export const ONLY_BUN: Place = { image: 'oven/bun:1', packages: [] }
export const WITH_PYTHON: Place = { image: 'python:3.13-slim-bookworm', packages: [] }
export const WITH_GO: Place = { image: 'golang:1.25-bookworm', packages: [] }
export const WITH_RUBY: Place = { image: 'ruby:3.4-bookworm', packages: [] }
export const WITH_RUST: Place = { image: 'rust:1-bookworm', packages: [] }
export const WITH_DENO: Place = { image: 'denoland/deno:debian', packages: [] }

/** A node program that answers with the value of an expression, evaluated at each request, or with why it has none. */
export function answering(expression: string): string {
  return `require('node:http')
  .createServer((_request, response) => {
    let text
    try {
      text = String(${expression})
    } catch (error) {
      text = '${NO_VALUE}' + error.message.split('\\n')[0]
    }
    response.end(text)
  })
  .listen(process.env.PORT)
process.on('SIGTERM', () => process.exit(0))
`
}

/** How an answer begins when the expression has no value. */
export const NO_VALUE = 'no value: '

/** What the build wrote with `writing`. */
export const BUILT = `require('fs').readFileSync('built.txt')`

/** A statement that writes the value of an expression to a file of the current folder. */
export function writing(expression: string, file = 'built.txt'): string {
  return `require('fs').writeFileSync('${file}', String(${expression}))\n`
}

/** A command that runs JavaScript, which contains no double quotes. */
export function evaluating(code: string): string {
  return `node -e "${code.trim()}"`
}

/** A package.json of a program with an `index.js`. */
export function program(scripts: Record<string, string>, more: object = {}): object {
  return {
    name: 'app',
    version: '1.0.0',
    private: true,
    scripts: { start: 'node index.js', ...scripts },
    ...more,
  }
}

/** The package `web` of a workspace, in `apps/web`, which is the one that is deployed. */
export function web(scripts: Record<string, string>, more: object = {}): object {
  return { name: 'web', version: '1.0.0', scripts: { start: 'node index.js', ...scripts }, ...more }
}

/** The root of a workspace; pnpm names its folders in a file of its own. */
export function root(more: object = {}, workspaces: object | undefined = ['apps/*', 'packages/*']): object {
  return { name: 'mono', private: true, workspaces, ...more }
}

/** The program of a package in a workspace that writes what the build made; the file itself is not executable. */
export const TOOL: Record<string, string | object> = {
  'packages/tool/package.json': { name: '@acme/tool', version: '1.0.0', bin: { acmebuild: 'cli.js' } },
  'packages/tool/cli.js': `#!/usr/bin/env node\n${writing("'built by its own tool'")}`,
}

export const IN_WEB = { root_dir: 'apps/web' }
