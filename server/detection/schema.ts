import { z } from 'zod'
import { ASKED_URL } from '../git/input.ts'
import { branchNameFault } from '../git/refs.ts'
import { relativePathFault } from '../services/rules.ts'
import { RUNTIMES } from '../services/schema.ts'
import { SERVICE_TYPES } from '../services/types.ts'

function judged(fault: (text: string) => string | null) {
  return z.string().superRefine((text, context) => {
    const found = fault(text)
    if (found) context.addIssue(found)
  })
}

/** What a request may say about a source in addition to its address. */
const hints = {
  root_dir: judged(relativePathFault)
    .optional()
    .meta({ description: 'The folder to look at; the root when absent', examples: ['apps/web'] }),
  type: z
    .enum(SERVICE_TYPES)
    .optional()
    .meta({ description: 'The type of service; detected when absent', examples: ['web_service'] }),
  runtime: z
    .enum(RUNTIMES)
    .exclude(['image'])
    .optional()
    .meta({ description: 'Skips detection of the runtime', examples: ['auto'] }),
}

/** The query of a detection whose body is an archive. */
export const DetectQuery = z.strictObject(hints)
export type DetectHints = z.output<typeof DetectQuery>

export const DetectInput = z
  .strictObject({
    repo_url: ASKED_URL,
    branch: judged(branchNameFault)
      .optional()
      .meta({ description: "The remote's default branch when absent", examples: ['main'] }),
    ...hints,
  })
  .meta({ id: 'DetectInput', examples: [{ repo_url: 'https://git.example.com/team/api.git' }] })

const found = (description: string, example: string | null) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [example] })

export const Detection = z
  .object({
    type: z
      .enum(SERVICE_TYPES)
      .meta({ description: 'The requested type, or else the one that fits', examples: ['web_service'] }),
    runtime: z
      .enum(RUNTIMES)
      .nullable()
      .meta({ description: 'Null when nothing was found; `notes` say why', examples: ['node'] }),
    framework: found('One lower-case word', 'express'),
    version: found('The version of the language', '24'),
    package_manager: found('What installs its packages', 'npm'),
    install_command: found('Installs its packages', 'npm ci --include=dev'),
    build_command: found('Builds it', 'npm run build'),
    start_command: found('Starts it; null for files that the server serves itself', 'node dist/server.js'),
    pre_deploy_command: found('Runs once before a new version goes live', null),
    publish_dir: found('The folder of a site, relative to root_dir', null),
    port: z
      .int()
      .nullable()
      .meta({ description: 'Null when nothing sets it: the program gets one in PORT', examples: [null] }),
    health_check_path: found('The path of its health check', null),
    env: z
      .array(
        z.object({
          key: z.string().meta({ examples: ['SECRET_KEY_BASE'] }),
          generate: z
            .boolean()
            .meta({ description: 'The first deploy generates the value', examples: [true] }),
          why: z.string().meta({ examples: ['Rails signs cookies with it'] }),
        }),
      )
      .meta({ description: 'Variables that it needs' }),
    apt_packages: z
      .array(z.string())
      .meta({ description: 'Debian packages that are installed', examples: [[]] }),
    root_dirs: z.array(z.string()).meta({
      description: 'Folders that could be `root_dir`, when the folder that was looked at has no program',
      examples: [[]],
    }),
    notes: z.array(z.string()).meta({
      description: 'What was chosen and why, and what is missing',
      examples: [['node 24 with npm']],
    }),
  })
  .meta({ id: 'Detection', description: 'What a deploy of a source would do' })
export type Detection = z.infer<typeof Detection>
