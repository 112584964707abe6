import { z } from 'zod'

/** What `GET /info` returns. Clients use it to validate a token. */
export const ServerInfo = z
  .object({
    version: z.string().meta({ examples: ['0.1.0'] }),
    base_domain: z.string().meta({ examples: ['localhost'] }),
    default_domain: z.string().meta({ examples: ['localhost'] }),
    proxy_url: z.string().meta({ description: 'Where services are served', examples: ['http://localhost'] }),
    dashboard_url: z.string().meta({ examples: ['http://127.0.0.1:7878'] }),
    runtime_version: z
      .string()
      .nullable()
      .meta({ description: 'Null while the engine does not answer', examples: ['28.5.1'] }),
    node_version: z
      .string()
      .meta({ description: 'Of Node.js, which the server runs on', examples: ['26.12.1'] }),
    tls_enabled: z.boolean().meta({ examples: [false] }),
    gitprov_webhook_enabled: z.boolean().meta({ examples: [false] }),
    gitprov_webhook_secret_set: z.boolean().meta({ examples: [false] }),
    default_memory_limit_mb: z.int().meta({ examples: [512] }),
    default_cpu_limit: z.number().meta({ examples: [1] }),
    client_ip: z
      .string()
      .meta({ description: 'The address that this request comes from', examples: ['203.0.113.7'] }),
    runtime_cpus: z
      .int()
      .nullable()
      .meta({ examples: [4] }),
    runtime_memory_bytes: z
      .int()
      .nullable()
      .meta({ examples: [8589934592] }),
  })
  .meta({ id: 'ServerInfo' })
export type ServerInfo = z.infer<typeof ServerInfo>
