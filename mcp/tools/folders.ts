import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { ToolFault } from '../call.ts'
import { OF_SERVICE, splitName } from '../places.ts'
import { defineTool, type Tool } from '../tool.ts'
import { WAIT } from '../waiting.ts'
import { deployAnswer, STARTED_ANSWER } from './deploy-answers.ts'

export const FOLDER_WRITERS: Tool[] = [
  defineTool({
    name: 'deploy_folder',
    title: 'Deploy a folder',
    description:
      'Uploads a folder of this machine (in the folder that the server was started in) and deploys it, for a service without repository or image. What git, Docker and .deployerignore ignore is left out, and .env files are.',
    effect: 'write',
    needsFolders: true,
    input: { folder: z.string().min(1), ...OF_SERVICE, clear_cache: z.boolean().default(false), ...WAIT },
    output: STARTED_ANSWER,
    async run({ folder, service, environment, clear_cache, wait_seconds }, context) {
      const { root, upload } = context.folders!
      const path = await inside(root, folder)
      const { name, within } = splitName(service, environment)
      const options = { clearCache: clear_cache, signal: context.signal }
      const deploy = await upload(path, { service: name, environment: within }, options)
      return deployAnswer(deploy, wait_seconds, context)
    },
  }),
]

/** The real path of a folder, which neither `..` nor a link leads out of the root. */
async function inside(root: string, folder: string): Promise<string> {
  const from = await realpath(root)
  const path = await realpath(resolve(from, folder)).catch(() => null)
  if (path === null) throw new ToolFault('not_found', `there is no folder ${folder} in ${root}`)
  const way = relative(from, path)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new ToolFault(
      'invalid_request',
      `folder: ${folder} leads out of ${root}, where the server was started`,
    )
  return path
}
