import { ToolFault } from '#mcp/call.ts'
import type { Upload } from '#mcp/tool.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { Fault } from '../../fault.ts'
import { Output } from '../../output.ts'
import type { Api } from '../api.ts'
import { contentsOf } from '../pack/folder.ts'
import { upload } from '../pack/upload.ts'
import { pathTo, targetOf } from '../target.ts'

/** Standard output is the protocol's, and nobody reads notes about an upload. */
const SILENT = new Output({ isJson: true, isQuiet: true, isPlain: true })

/** Deploys folders for agents, as `deployer deploy` does. Its faults are answers of the tool. */
export function uploadFor(call: Call, connected: () => Promise<Api>): Upload {
  return async (folder, { service, environment }, { clearCache, signal }) => {
    try {
      const api = await connected()
      const target = {
        ...targetOf(call, api, service),
        ...(environment === undefined ? {} : { environment }),
      }
      const found = await api.get<Service>(pathTo('services', target), { environment: target.environment })
      if (found.repo_url !== null || found.image !== null)
        throw new ToolFault(
          'conflict',
          `${found.name} deploys from a repository or an image, not from a folder`,
        )
      const contents = await contentsOf(folder, found, { withGit: true, signal })
      return await upload(api, SILENT, { id: found.id, folder, contents, clearCache, signal })
    } catch (error) {
      if (error instanceof Fault) throw new ToolFault(error.code, error.message)
      throw error
    }
  }
}
