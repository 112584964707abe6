import { copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docker } from '../engine.ts'
import { run } from '../run.ts'
import { base } from './base.ts'
import type { Recipe } from './index.ts'

/** Node 26 with npm 11 from their npm packages; it stands in for the older lines too. */
export const node: Recipe = {
  tags: ['node:26-bookworm-slim', 'node:24-bookworm-slim', 'node:22-bookworm-slim', 'node:20-bookworm-slim'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq libatomic1 >/dev/null && rm -rf /var/lib/apt/lists/* \\
 && groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN cd /usr/local/bin && chmod 755 node && ln -s node nodejs \\
 && ln -s ../lib/node_modules/npm/bin/npm-cli.js npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js npx
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
CMD ["node"]
`,
  make: async (folder, text) => {
    const program = join(import.meta.dirname, `../../../node_modules/node-linux-${process.arch}/bin/node`)
    if (!existsSync(program))
      throw new Error(`the npm package node-linux-${process.arch} is missing: run npm ci`)
    copyFileSync(program, join(folder, 'node'))
    const file = (await run('npm', ['pack', '--silent', 'npm@11'], { cwd: folder })).trim()
    await run('tar', ['xzf', file], { cwd: folder })
    renameSync(join(folder, 'package'), join(folder, 'npm'))
    await build(folder, text, node.tags[0]!)
  },
}

/** Debian's Python with Flask and gunicorn. */
export const python: Recipe = {
  tags: [
    'python:3.11-slim-bookworm',
    'python:3.12-slim-bookworm',
    'python:3.13-slim-bookworm',
    'python:3.14-slim-bookworm',
  ],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq \\
 && apt-get install -y -qq python3 python3-venv python3-pip python3-flask gunicorn >/dev/null \\
 && ln -s python3 /usr/bin/python && rm -rf /var/lib/apt/lists/* /usr/lib/python3*/EXTERNALLY-MANAGED
CMD ["python3"]
`,
  make: (folder, text) => build(folder, text, python.tags[0]!),
}

/** Debian's Go, without a module proxy. */
export const golang: Recipe = {
  tags: ['golang:1.19-bookworm', 'golang:1.24-bookworm', 'golang:1.25-bookworm', 'golang:1.26-bookworm'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq golang-go >/dev/null && rm -rf /var/lib/apt/lists/*
ENV GOPATH=/go GOPROXY=off CGO_ENABLED=0 PATH=/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /go
CMD ["bash"]
`,
  make: (folder, text) => build(folder, text, golang.tags[0]!),
}

/** Builds the Dockerfile in the folder under the tag. */
export async function build(folder: string, dockerfile: string, tag: string): Promise<void> {
  writeFileSync(join(folder, 'Dockerfile'), dockerfile)
  await docker(['build', '-q', '-t', tag, folder])
}
