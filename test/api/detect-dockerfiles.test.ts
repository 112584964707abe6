import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { detect, EXPRESS, type Files, type Found } from './detect-client.ts'

let server: TestServer

beforeAll(async () => void (server = await startServer()))
afterAll(() => server?.stop())

it.each<Found>([
  [
    'a Dockerfile before any language, with the port that it exposes',
    { ...EXPRESS, Dockerfile: 'FROM node AS build\nEXPOSE 1\nFROM scratch\nEXPOSE 8080/tcp 53/udp\n' },
    '',
    { type: 'web_service', runtime: 'docker', port: 8080, start_command: null },
  ],
  [
    'a bot with a Dockerfile that mentions no port',
    { 'requirements.txt': 'discord.py\n', 'main.py': '', Dockerfile: 'FROM python:3.13\nCOPY . .\n' },
    '',
    {
      type: 'background_worker',
      runtime: 'docker',
      notes: expect.arrayContaining([
        'Dockerfile exposes no port, and its packages are those of a bot: this is a background_worker',
      ]),
    },
  ],
  [
    'a web service with a Dockerfile that exposes a port, even with a bot among its packages',
    { 'requirements.txt': 'discord.py\n', 'main.py': '', Dockerfile: 'FROM python:3.13\nEXPOSE 8000\n' },
    '',
    { type: 'web_service', runtime: 'docker', port: 8000 },
  ],
  [
    "a Dockerfile that railway.json names, with that file's commands",
    {
      'deploy/app.Dockerfile': 'FROM busybox\n',
      'railway.json': {
        build: { builder: 'DOCKERFILE', dockerfilePath: '/deploy/app.Dockerfile', buildCommand: 'make' },
        deploy: { startCommand: 'serve --here', preDeployCommand: 'migrate', healthcheckPath: '/up' },
      },
    },
    '',
    {
      runtime: 'docker',
      build_command: null,
      start_command: 'serve --here',
      pre_deploy_command: 'migrate',
      health_check_path: '/up',
      notes: expect.arrayContaining([
        'building with deploy/app.Dockerfile',
        'starting as railway.json says: serve --here',
      ]),
    },
  ],
  [
    'a Dockerfile whose image has no shell, with a command that needs none',
    {
      Dockerfile:
        'FROM golang AS build\nFROM gcr.io/distroless/static:nonroot AS run\nFROM run\nCOPY --from=build /app /app\n',
      'railway.json': { deploy: { startCommand: '/app serve --all', preDeployCommand: 'migrate || true' } },
    },
    '',
    {
      runtime: 'docker',
      start_command: 'exec /app serve --all',
      pre_deploy_command: null,
      notes: expect.arrayContaining([
        'starting as railway.json says: exec /app serve --all',
        'railway.json says: migrate || true: it is not used, because it needs a shell, which gcr.io/distroless/static:nonroot lacks',
      ]),
    },
  ],
  ...[
    'COPY --from=build / /',
    'COPY --from=build \\\n  / /',
    'COPY --from=build /bin/sh /bin/sh',
    'COPY ["/rootfs", "/"]',
    'ADD rootfs.tar.gz .',
    'COPY x y\nRUN x',
  ].map((line): [string, Files, string, object] => [
    `a Dockerfile that may have a shell by ${JSON.stringify(line)}`,
    {
      Dockerfile: `FROM busybox AS build\nFROM scratch\n${line}\n`,
      'railway.json': { deploy: { startCommand: 'serve $PORT' } },
    },
    '',
    { runtime: 'docker', start_command: 'serve $PORT' },
  ]),
  [
    "its own Dockerfile, whatever the builder and other hosts' Dockerfiles are",
    {
      Dockerfile: 'FROM busybox\n',
      'backend/Dockerfile': 'FROM scratch\n',
      'heroku.yml': 'build:\n  docker:\n    web: backend/Dockerfile\nrun:\n  web: bin/server\n',
      'railway.json': { build: { builder: 'NIXPACKS' }, deploy: { startCommand: 'npm run theirs' } },
    },
    '',
    {
      runtime: 'docker',
      start_command: null,
      notes: expect.arrayContaining([
        'building with Dockerfile',
        'heroku.yml builds backend/Dockerfile: set root_dir to its folder for that',
        expect.stringContaining('npm run theirs'),
      ]),
    },
  ],
  [
    'a Dockerfile with the port of fly.toml, without its commands, which are for an entrypoint',
    {
      Dockerfile: 'FROM busybox\n',
      'fly.toml':
        '[processes]\napp = "bin/server"\nworker = "bin/work"\n[deploy]\nrelease_command = "bin/migrate"\n[env]\nSITE_URL = "https://x.fly.dev"\n[[services]]\ninternal_port = 4000\n[[services.http_checks]]\npath = "/ping"\n',
    },
    '',
    {
      runtime: 'docker',
      start_command: null,
      pre_deploy_command: null,
      port: 4000,
      health_check_path: '/ping',
      env: [{ key: 'SITE_URL', generate: false, why: 'fly.toml sets it for its own host' }],
    },
  ],
])('finds %s', async (_what, files, query, found) => {
  expect(await detect(server, files, query)).toMatchObject({ status: 200, body: found })
})
