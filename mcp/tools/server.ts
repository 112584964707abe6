import { z } from 'zod'
import { ask } from '../call.ts'
import { flag, number, text, texts } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'

const Info = z.looseObject({ version: z.string() })
const Host = z.object({
  host: z.looseObject({
    disks: z.array(
      z.object({
        mount_point: z.string(),
        total_bytes: z.number().nullable(),
        used_bytes: z.number().nullable(),
      }),
    ),
  }),
})

export const SERVER_READERS: Tool[] = [
  defineTool({
    name: 'get_server',
    title: 'Get the server',
    description:
      "The server's version, container engine (engine_version is absent while the engine does not answer), domains, default limits, processors, memory and disks.",
    effect: 'read',
    input: {},
    output: {
      version: z.string(),
      engine_version: text,
      base_domain: text,
      default_domain: text,
      dashboard_url: text,
      proxy_url: text,
      tls_enabled: flag,
      default_memory_limit_mb: number,
      default_cpu_limit: number,
      cpu_count: number,
      cpu_percent: number,
      memory_total_bytes: number,
      memory_used_bytes: number,
      disks: z.array(z.object({ mount_point: z.string(), total_bytes: number, used_bytes: number })),
    },
    async run(_, { call }) {
      const [{ runtime_version, ...info }, { host }] = await Promise.all([
        ask(call, Info, 'GET', '/info'),
        ask(call, Host, 'GET', '/server/metrics'),
      ])
      return { value: { ...info, engine_version: runtime_version, ...host } }
    },
  }),
  defineTool({
    name: 'detect_source',
    title: 'Look into a repository',
    description:
      'What a deploy of a repository would build and start, read from its files: type, runtime, commands, port, variables that it needs. Nothing is built or saved. With it you know what create_service should get.',
    effect: 'read',
    openWorld: true,
    input: {
      repo_url: z.string().min(1),
      branch: z.string().optional(),
      root_dir: z.string().optional(),
    },
    output: {
      type: text,
      runtime: text,
      framework: text,
      version: text,
      package_manager: text,
      install_command: text,
      build_command: text,
      start_command: text,
      pre_deploy_command: text,
      publish_dir: text,
      port: number,
      health_check_path: text,
      env: z.array(z.object({ key: z.string(), generate: flag, why: text })),
      apt_packages: texts,
      root_dirs: texts,
      notes: texts,
    },
    async run(input, { call }) {
      return { value: await ask(call, z.looseObject({}), 'POST', '/detect', { body: input }) }
    },
  }),
]
