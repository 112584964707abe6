// Small node applications with the Dockerfile that their tool's own documentation gives.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { TSCONFIG, type Application, type Files } from './applications.ts'

/** An application whose build is compared with a documented one, for the same files. */
export interface Documented extends Application {
  /** The Dockerfile, for the base images of the plans. */
  dockerfile: string
  /** Returns the lock file. */
  lock: (packages: Files) => Promise<Files>
}

const run = promisify(execFile)

/** Runs a program of an npm package in a folder with these files, and returns one that it has written. */
function lockBy(command: string[], file: string): (packages: Files) => Promise<Files> {
  return async (packages) => {
    const folder = await mkdtemp(join(tmpdir(), 'deployer-lock-'))
    for (const [name, content] of Object.entries(packages)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), content)
    }
    await run('npx', ['--yes', ...command], { cwd: folder, env: { ...process.env, CI: '1' } })
    const text = await readFile(join(folder, file), 'utf8')
    await rm(folder, { recursive: true, force: true })
    return { [file]: text }
  }
}

const NPM_LOCK = lockBy(['npm@11', 'install', '--package-lock-only', '--ignore-scripts'], 'package-lock.json')

const DEPENDENCIES = { express: '5', pino: '9' }
const DEVELOPMENT = { typescript: '5.9', '@types/node': '24', '@types/express': '5' }

/** A server in TypeScript that a package manager installs. */
function server(packageManager: string | null, start: string): Pick<Application, 'files' | 'change'> {
  return {
    files: {
      'package.json': JSON.stringify({
        name: 'server',
        type: 'module',
        ...(packageManager === null ? {} : { packageManager }),
        scripts: { build: 'tsc', start },
        dependencies: DEPENDENCIES,
        devDependencies: DEVELOPMENT,
      }),
      'tsconfig.json': TSCONFIG,
    },
    change: (round) => ({
      'src/index.ts': `import express from 'express'\nexpress().get('/', (_, response) => void response.send('${round}')).listen(Number(process.env.PORT))\n`,
    }),
  }
}

const LIBRARIES = Array.from({ length: 9 }, (_, at) => `lib-${at}`)

/** By what they are built with. The sources of the Dockerfiles are named above each. */
export const DOCUMENTED: Record<string, Documented> = {
  // nodejs.org, "Dockerizing a Node.js web app"
  npm: {
    ...server(null, 'node dist/index.js'),
    lock: NPM_LOCK,
    dockerfile: `FROM node:24-bookworm
WORKDIR /usr/src/app
COPY package*.json ./
RUN npm ci
COPY . .
RUN npm run build
CMD ["npm", "start"]
`,
  },
  // The same with the stages that docs.docker.com, "Multi-stage builds", asks for, so that compilers stay out of the image
  'npm, in stages': {
    ...server(null, 'node dist/index.js'),
    lock: NPM_LOCK,
    dockerfile: `FROM node:24-bookworm AS build
WORKDIR /app
COPY package*.json ./
RUN --mount=type=cache,id=bench-npm,target=/root/.npm npm ci
COPY . .
RUN npm run build
FROM node:24-bookworm AS deps
WORKDIR /app
COPY package*.json ./
RUN --mount=type=cache,id=bench-npm,target=/root/.npm npm ci --omit=dev
FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=deps --chown=node:node /app/node_modules ./node_modules
COPY --from=build --chown=node:node /app/dist ./dist
COPY --chown=node:node package.json ./
USER node
CMD ["node", "dist/index.js"]
`,
  },
  // pnpm.io/docker, "Example 1: Build a bundle in a Docker container"
  pnpm: {
    ...server('pnpm@10.34.9', 'node dist/index.js'),
    lock: lockBy(['pnpm@10.34.9', 'install', '--lockfile-only'], 'pnpm-lock.yaml'),
    dockerfile: `FROM node:24-bookworm AS base
ENV PNPM_HOME="/pnpm"
ENV PATH="$PNPM_HOME:$PATH"
RUN npm install --global pnpm@10.34.9
COPY . /app
WORKDIR /app
FROM base AS prod-deps
RUN --mount=type=cache,id=bench-pnpm,target=/pnpm/store pnpm install --prod --frozen-lockfile
FROM base AS build
RUN --mount=type=cache,id=bench-pnpm,target=/pnpm/store pnpm install --frozen-lockfile
RUN pnpm run build
FROM base
COPY --from=prod-deps /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
CMD [ "pnpm", "start" ]
`,
  },
  // docs.docker.com, "Containerize a Node.js application", with yarn; yarn's own documentation has none
  yarn: {
    ...server('yarn@1.22.22', 'node dist/index.js'),
    lock: lockBy(['yarn@1.22.22', 'install', '--ignore-scripts', '--non-interactive'], 'yarn.lock'),
    dockerfile: `FROM node:24-bookworm
RUN npm install --global --force yarn@1.22.22
WORKDIR /usr/src/app
COPY package.json yarn.lock ./
RUN yarn install --frozen-lockfile
COPY . .
RUN yarn build
CMD ["yarn", "start"]
`,
  },
  // bun.com, "Containerize a Bun application with Docker"
  bun: {
    ...server('bun@1', 'bun dist/index.js'),
    lock: lockBy(['bun@1', 'install', '--lockfile-only'], 'bun.lock'),
    dockerfile: `FROM oven/bun:1 AS base
WORKDIR /usr/src/app
FROM base AS install
RUN mkdir -p /temp/dev
COPY package.json bun.lock /temp/dev/
RUN cd /temp/dev && bun install --frozen-lockfile
RUN mkdir -p /temp/prod
COPY package.json bun.lock /temp/prod/
RUN cd /temp/prod && bun install --frozen-lockfile --production
FROM base AS prerelease
COPY --from=install /temp/dev/node_modules node_modules
COPY . .
ENV NODE_ENV=production
RUN bun run build
FROM base AS release
COPY --from=install /temp/prod/node_modules node_modules
COPY --from=prerelease /usr/src/app/dist dist
COPY --from=prerelease /usr/src/app/package.json .
USER bun
ENTRYPOINT [ "bun", "run", "dist/index.js" ]
`,
  },
  // github.com/vercel/next.js, examples/with-docker
  'Next, standalone': {
    files: {
      'package.json': JSON.stringify({
        name: 'site',
        scripts: { build: 'next build', start: 'next start' },
        dependencies: { next: '15', react: '19', 'react-dom': '19' },
      }),
      'next.config.js': "module.exports = { output: 'standalone' }\n",
      'public/robots.txt': 'User-agent: *\n',
      'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>\n',
    },
    change: (round) => ({ 'app/page.js': `export default () => <h1>${round}</h1>\n` }),
    lock: NPM_LOCK,
    dockerfile: `FROM node:24-bookworm AS base
FROM base AS deps
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
FROM base AS builder
WORKDIR /app
COPY --from=deps /app/node_modules ./node_modules
COPY . .
ENV NEXT_TELEMETRY_DISABLED=1
RUN npm run build
FROM node:24-bookworm-slim AS runner
WORKDIR /app
ENV NODE_ENV=production
RUN groupadd --system --gid 1001 nodejs && useradd --system --uid 1001 -g nodejs nextjs
COPY --from=builder /app/public ./public
COPY --from=builder --chown=nextjs:nodejs /app/.next/standalone ./
COPY --from=builder --chown=nextjs:nodejs /app/.next/static ./.next/static
USER nextjs
CMD ["node", "server.js"]
`,
  },
  // pnpm.io/docker, "Example 2: Build multiple Docker images in a monorepo"
  'a monorepo of ten packages': {
    files: {
      'package.json': JSON.stringify({ name: 'monorepo', private: true, packageManager: 'pnpm@10.34.9' }),
      'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
      ...Object.fromEntries(
        LIBRARIES.flatMap((name, at) => [
          [
            `packages/${name}/package.json`,
            JSON.stringify({
              name: `@bench/${name}`,
              version: '1.0.0',
              type: 'module',
              main: 'dist/index.js',
              files: ['dist'],
              scripts: { build: 'mkdir -p dist && cp index.js dist/' },
              dependencies: at === 0 ? { 'is-number': '7' } : { [`@bench/lib-${at - 1}`]: 'workspace:*' },
            }),
          ],
          [`packages/${name}/index.js`, `export default ${at}\n`],
        ]),
      ),
      'packages/app/package.json': JSON.stringify({
        name: 'app',
        version: '1.0.0',
        type: 'module',
        files: ['dist'],
        scripts: { build: 'tsc', start: 'node dist/index.js' },
        dependencies: { ...DEPENDENCIES, '@bench/lib-8': 'workspace:*' },
        devDependencies: DEVELOPMENT,
      }),
      'packages/app/tsconfig.json': JSON.stringify({
        compilerOptions: { outDir: 'dist', rootDir: 'src', module: 'nodenext', target: 'es2022' },
      }),
    },
    change: (round) => ({
      'packages/app/src/index.ts': `import express from 'express'\nexpress().get('/', (_, response) => void response.send('${round}')).listen(Number(process.env.PORT))\n`,
    }),
    lock: lockBy(['pnpm@10.34.9', 'install', '--lockfile-only'], 'pnpm-lock.yaml'),
    dockerfile: `FROM node:24-bookworm-slim AS base
ENV PNPM_HOME="/pnpm"
ENV PATH="$PNPM_HOME:$PATH"
RUN npm install --global pnpm@10.34.9
FROM base AS build
COPY . /usr/src/app
WORKDIR /usr/src/app
RUN --mount=type=cache,id=bench-pnpm,target=/pnpm/store pnpm install --frozen-lockfile
RUN pnpm run -r build
RUN pnpm deploy --legacy --filter=app --prod /prod/app
FROM base
COPY --from=build /prod/app /prod/app
WORKDIR /prod/app
CMD [ "pnpm", "start" ]
`,
  },
}
