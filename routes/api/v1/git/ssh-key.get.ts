import { z } from 'zod'
import { ensureSshKey } from '#daemon/sources/ssh-key.ts'
import { useContext } from '#server/context.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: "Read the server's public key, which a private repository must accept to be cloned over ssh",
  auth: 'token',
  least: 'read',
  errors: ['io_error'],
  response: z
    .object({
      public_key: z.string().meta({ examples: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0 deployer'] }),
    })
    .meta({ id: 'SshKey' }),
  async handler() {
    return { public_key: await ensureSshKey(useContext().options.dataDirectory) }
  },
})
