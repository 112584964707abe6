import { useDiskMeter } from '#daemon/index.ts'
import { DiskUse } from '#server/disk-use/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: "Read what takes room on the server's disks",
  description:
    'By kind, and the largest by what they belong to. Measuring takes the engine and large data directories seconds; the answer is reused for ten times as long, at most a minute, and `measured_at` says from when it is.',
  auth: 'token',
  least: 'read',
  response: DiskUse,
  handler: () => useDiskMeter().read(),
})
