import { createEngine } from '#daemon/engine/index.ts'
import { startPrivateRegistry } from '../stand/registry.ts'
import { pack } from 'tar-stream'
const tarOf = (f: Record<string,string>) => { const t = pack(); for (const [name, c] of Object.entries(f)) t.entry({ name }, c); t.finalize(); return t as never }
const e = createEngine({ dockerHost: process.env.SOCK ?? 'unix:///var/cache/deployer-stand/docker.sock', serverId: 'smoke' })
const reg = await startPrivateRegistry()
await reg.push('busybox:1', 'team/base:1')
const cases: Record<string, Record<string, string>> = {
  nodocker: { other: '' }, empty: { Dockerfile: '# x\n' }, missing: { Dockerfile: 'FROM busybox:1\nCOPY missing.txt deep/other.txt /\n' }, missing2: { Dockerfile: 'FROM busybox:1\nCOPY deep/missing.txt /x\n' },
  glob: { Dockerfile: 'FROM busybox:1\nCOPY *.json /\n' },
  base: { Dockerfile: 'FROM no-such-base:9\n' }, priv: { Dockerfile: `FROM ${reg.host}/team/base:1\nLABEL a=b\n` }, notag: { Dockerfile: `FROM ${reg.host}/team/base:none\nLABEL a=b\n` },
  syntax: { Dockerfile: '# syntax=docker/dockerfile:1\nFROM busybox:1\n' }, stage: { Dockerfile: 'FROM busybox:1\nCOPY --from=nostage /x /y\n' }, badarg: { Dockerfile: 'FROM busybox:1\nWORKDIR\n' },
  secret: { Dockerfile: 'FROM busybox:1\nRUN --mount=type=secret,id=LOST,required=true true\n' }, noshell: { Dockerfile: 'FROM scratch\nRUN true\n' }, heredoc: { Dockerfile: 'FROM busybox:1\nRUN <<EOF\necho 1\nEOF\n' },
  user: { Dockerfile: 'FROM busybox:1\nUSER ghost\nRUN true\n' }, platform: { Dockerfile: 'FROM --platform=linux/arm64 busybox:1\nRUN true\n' },
}
const { default: D } = await import('dockerode'); void D
for (const [name, files] of Object.entries(cases)) {
  const lines: string[] = []
  try { await e.images.build(tarOf(files), { tag: 'zz:1', dockerfile: 'Dockerfile', noCache: true, signal: new AbortController().signal, onLine: (l) => lines.push(l), registryAuth: async () => null }); console.log(name, 'OK') } catch (error) { console.log(`${name}: ${(error as Error).message}\n   raw: ${(error as Error).cause}\n   last: ${lines.slice(-2).join(' | ')}`) }
}
await reg.close(); await e.images.remove('zz:1')
