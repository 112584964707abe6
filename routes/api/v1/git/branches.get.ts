import { join } from 'node:path'
import { z } from 'zod'
import { lsRemote } from '#daemon/sources/git.ts'
import { useContext } from '#server/context.ts'
import { repositoryUrlFault } from '#server/git/url.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

const RepositoryUrl = z.string().superRefine((text, context) => {
  const fault = repositoryUrlFault(text)
  if (fault) context.addIssue(fault)
})

export default defineEndpoint({
  summary: 'Read the branches of a repository from its remote',
  auth: 'token',
  query: z.strictObject({
    repo_url: RepositoryUrl.meta({ examples: ['https://git.example.com/team/api.git'] }),
  }),
  response: z
    .object({
      branches: z.array(z.string()).meta({ examples: [['main']] }),
      default_branch: z
        .string()
        .nullable()
        .meta({ examples: ['main'] }),
      connection_id: z
        .string()
        .nullable()
        .meta({ examples: [null] }),
    })
    .meta({ id: 'Branches' }),
  errors: ['git_remote_unreachable'],
  async handler({ query }) {
    const { dataDirectory } = useContext().options
    const remote = await lsRemote({
      url: query.repo_url,
      sshKeyFile: join(dataDirectory, 'ssh', 'id_ed25519'),
      knownHostsFile: join(dataDirectory, 'ssh', 'known_hosts'),
    })
    return { ...remote, connection_id: null }
  },
})
