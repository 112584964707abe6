import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const SERVICE = {
  id: 'srv-4f1d0c9a7b3e5d2f6a80',
  name: 'packed',
  environment: 'production',
  type: 'web_service',
  runtime: 'auto',
  root_dir: null,
  dockerfile_path: null,
  repo_url: null,
  image: null,
}

/** Takes uploads as the server does, and drops them: what the server does with them is not measured. */
export async function openReceiver(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(request, response))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const isUpload = url.includes('/deploys/upload')
  response.writeHead(isUpload ? 202 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isUpload ? { id: 'dep-4f1d0c9a7b3e5d2f6a80', status: 'queued' } : SERVICE))
}
